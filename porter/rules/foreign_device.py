"""Devices that the machine isn't given, and blocks of chips that no rule knows."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.meaning.foreign_purpose import instead_of
from porter.registers.other_blocks import OTHER
from porter.registers.register import Register
from porter.rules.not_compiled import false_condition
from porter.rules.rule import Rule, Sample
from porter.sites.access import Access
from porter.sites.registers import NOT_GRANTED
from porter.source.c_tree import text_of, walk
from porter.source.values import Place

_SIM = (
    "typedef struct { volatile unsigned SCGC4, SCGC5; } SIM_Type;\n"
    "#define SIM ((SIM_Type *)0x40048034u)\n"
)


class ForeignDevice(Rule):
    """What all machines share, or what another one has, is no machine's to write."""

    id = "foreign-device"
    finds = "clocks, power, pins, flash and watchdogs of chips other than STM32; with --domain, "
    finds += "devices that the description doesn't grant"
    becomes = "itself"
    why = "the kernel's protection lets no such access pass, and nobody has said who sets it up"
    samples = (
        Sample(_SIM + "void f(void) { SIM->SCGC5 |= 1u << 9; }", "", escalates=True),
        Sample(
            "#define LPC17_REG(at) (*(volatile unsigned *)(at))\n"
            "#define PCONP LPC17_REG(0x400FC0C4)\nvoid f(void) { PCONP |= 1u << 29; }",
            "",
            escalates=True,
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Each access on its own."""
        for access in unit.accesses():
            register = access.register
            if register is None or register.block not in (OTHER, NOT_GRANTED):
                continue
            if not unit.is_compiled(access.site.start, access.site.end):
                yield self.left(access.site, false_condition(unit, access.site))
            else:
                yield self.escalated(access.site, self._why(unit, access, register))

    @staticmethod
    def _why(unit: Unit, access: Access, register: Register) -> str:
        value = unit.text.evaluator.value(access.place, access.context.scope)
        known = isinstance(value, Place) and value.address is not None and not value.span
        at = f" at 0x{value.address:08X}" if known and isinstance(value, Place) else ""
        what = register.instance if register.name.startswith("0x") else str(register)
        if register.block == OTHER:
            fields = {
                text_of(node).decode("latin-1")
                for node in walk(access.place)
                if node.type == "field_identifier"
            }
            return f"{what}{at} serves the whole chip: {instead_of(register, fields)}"
        name = unit.domain.name if unit.domain is not None else "the machine"
        return f"{what}{at} isn't granted to {name}: grant the device, or take this out"
