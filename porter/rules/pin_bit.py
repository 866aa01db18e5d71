"""Pins by their bit-band aliases: `PAout(5) = 1`."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.meaning.expressions import source
from porter.meaning.no_value import has_no_value
from porter.registers.register import Register
from porter.rules.pins import not_granted, not_its_own
from porter.rules.rule import Rule, Sample
from porter.sites.access import Access
from porter.source.edit import Edit

_LEVELS = {"ODR bit": b"hyp_pin_latch", "IDR bit": b"hyp_pin_get"}
_HEADER = (
    "typedef struct { volatile unsigned MODER, OTYPER, OSPEEDR, PUPDR, IDR, ODR, BSRR; }"
    " GPIO_TypeDef;\n#define GPIOA ((GPIO_TypeDef *)0x40020000)\n"
    "#define BIT(a, n) (*(volatile unsigned *)(0x42000000 + ((a) & 0xFFFFF) * 32 + (n) * 4))\n"
    "#define PAout(n) BIT(0x40020014, n)\n#define PAin(n) BIT(0x40020010, n)\n"
)


class PinBit(Rule):
    """A word of the alias is one bit of the register (ARMv7-M ARM, B3.1.2 and Cortex-M4 TRM)."""

    id = "pin-bit"
    finds = "bit-band aliases of ODR and IDR"
    becomes = "hyp_pin_write, hyp_pin_toggle; hyp_pin_latch or hyp_pin_get"
    why = "a machine is granted no alias, and a port's pins belong to several machines"
    samples = (
        Sample(
            _HEADER + "void f(void) { PAout(5) = 1; PAout(5) = 0; }",
            _HEADER + "void f(void) { hyp_pin_write(0, 1U << 5); hyp_pin_write(0, 1U << 21); }",
        ),
        Sample(
            _HEADER + "void f(int on) { PAout(5) = on; }",
            _HEADER + "void f(int on) { hyp_pin_write(0, (on) & 1 ? 1U << 5 : 1U << 21); }",
        ),
        Sample(
            _HEADER + "void f(void) { PAout(5) = !PAout(5); PAout(5) ^= 1; }",
            _HEADER + "void f(void) { hyp_pin_write(0, (!(hyp_pin_latch(0) >> 5 & 1U)) & 1 "
            "? 1U << 5 : 1U << 21); hyp_pin_toggle(0, 1U << 5); }",
        ),
        Sample(
            _HEADER + "int f(void) { return PAin(5) ? 2 : 3; }",
            _HEADER + "int f(void) { return (hyp_pin_get(0) >> 5 & 1U) ? 2 : 3; }",
        ),
        Sample(_HEADER + "void f(void) { PAout(6) = 1; }", "", escalates=True),
        Sample(_HEADER + "int f(void) { return PAout(5) = 1; }", "", escalates=True),
        Sample(_HEADER + "void f(int x) { PAout(5) ^= x; }", "", escalates=True),
        Sample(_HEADER + "void f(void) { PAin(5) = 1; }", "", escalates=True),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Each access on its own."""
        for access in unit.accesses():
            register = access.register
            if register is None or register.block != "GPIO" or register.name not in _LEVELS:
                continue
            if register.instance is None or register.offset is None:
                continue
            if access.use in ("read", "write"):
                port = ord(register.instance[-1]) - ord("A")
                yield self._one(unit, access, register, port, register.offset)

    def _one(self, unit: Unit, access: Access, register: Register, port: int, bit: int) -> Verdict:
        is_read = access.use == "read"
        denied = not_its_own if is_read else not_granted
        if (problem := denied(unit, register.instance, 1 << bit)) is not None:
            return self.escalated(access.site, problem)
        if is_read:
            start, end = access.context.start(access.place), access.context.end(access.place)
            text = b"(%s(%d) >> %d & 1U)" % (_LEVELS[register.name], port, bit)
            edit = Edit(start, end, text)
            return self.rewritten(access.site, "the kernel reads this machine's pins", edit)
        written = self._written(unit, access, port, bit)
        if written is None or register.name == "IDR bit":
            return self.escalated(access.site, f"what happens to {register} can't be told")
        start, end = access.context.start(access.whole), access.context.end(access.whole)
        return self.rewritten(access.site, "masked write by the kernel", Edit(start, end, written))

    @staticmethod
    def _written(unit: Unit, access: Access, port: int, bit: int) -> bytes | None:
        """The call that does the same; bit 0 of what is written counts."""
        if not has_no_value(unit, access) or access.value is None:
            return None
        high, low = b"1U << %d" % bit, b"1U << %d" % (bit + 16)
        number = unit.text.evaluator.number(access.value, access.context.scope)
        if access.operator == b"=":
            text = b"(%s) & 1 ? %s : %s" % (source(access.value), high, low)
            if number is not None:
                text = high if number & 1 else low
            return b"hyp_pin_write(%d, %s)" % (port, text)
        if access.operator == b"^=" and number is not None and number & 1:
            return b"hyp_pin_toggle(%d, %s)" % (port, high)
        return None
