"""Memory at addresses of the old chip."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.registers.memory import MEMORY, VENDORS
from porter.registers.register import Register
from porter.rules.not_compiled import false_condition
from porter.rules.rule import Rule, Sample
from porter.sites.placed import placed_at
from porter.sites.site import Site
from porter.source.values import Number

_ELSEWHERE = "of the old chip, and the machine's is elsewhere"
_REASONS = {
    "code memory": f"is code memory {_ELSEWHERE}: name what the linker places there, or take "
    "factory data over as constants",
    "RAM": f"is RAM {_ELSEWHERE}: make it a variable that the linker places",
    "external memory": f"is external memory {_ELSEWHERE}: name what the linker places there",
    VENDORS: "is in the vendor's part of the old chip's system space: set it up before the "
    "machines start, or take this out",
}


class MemoryAddress(Rule):
    """The layout gives the machine other memory than the old chip had at that address."""

    id = "memory-address"
    finds = "objects in flash, RAM, system memory or external memory at a fixed address"
    becomes = "itself"
    why = "the machine's memory is elsewhere: an access there is a fault, or reads something else"
    samples = (
        Sample("unsigned f(void) { return *(volatile unsigned *)0x1FFF7A10; }", "", escalates=True),
        Sample(
            "#define MAGIC (*(volatile unsigned *)0x2000FFF0)\nvoid f(void) { MAGIC = 1; }",
            "",
            escalates=True,
        ),
        Sample(
            "#define FLASH_BASE 0x08000000UL\n"
            "unsigned f(unsigned at) { return *(volatile unsigned *)(FLASH_BASE + at); }",
            "",
            escalates=True,
        ),
        Sample("char keys[16] __attribute__((at(0x20001000)));", "", escalates=True),
        Sample(
            "static const unsigned char *const page = (const unsigned char *)0x0800FC00;\n"
            "int f(void) { return page[3]; }",
            "",
            escalates=True,
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Each access on its own, and numbers that attributes place objects by."""
        accesses = {access.site: access for access in unit.accesses()}
        for site in unit.pending():
            access = accesses.get(site)
            register = _placed_at(unit, site) if access is None else access.register
            if register is None or register.block != MEMORY:
                continue
            if not unit.is_compiled(site.start, site.end):
                yield self.left(site, false_condition(unit, site))
                continue
            kind = register.instance or register.block
            yield self.escalated(site, f"{register.name} {_REASONS[kind]}")


def _placed_at(unit: Unit, site: Site) -> Register | None:
    """Memory that an attribute names at a site."""
    tokens = unit.text.lexed.tokens
    index = bisect_left(tokens, site.start, key=lambda it: it.start)
    named = placed_at(tokens, index) if tokens[index : index + 1] else None
    match unit.text.evaluator.text(named) if named is not None else None:
        case Number(value=address):
            return unit.registers.memory_at(address)
    return None
