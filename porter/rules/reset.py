"""SCB->AIRCR with SYSRESETREQ: a reset by hand."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.meaning.bits import ones, zeros
from porter.meaning.called_with import called_with
from porter.rules.rule import Rule, Sample

_RESET = 1 << 2 | 1 << 0  # SYSRESETREQ, VECTRESET
_KEY, _KEYS = 0x05FA << 16, 0xFFFF << 16  # what has to stand in the upper half, and where
# VECTRESET is written only, and SYSRESETREQ reads as 1 only until the reset (ARMv7-M ARM, B3.2.6).
_READS = {0xE000_ED0C: _RESET}
_HEADER = "#define AIRCR (*(volatile unsigned *)0xE000ED0C)\n"


class Reset(Rule):
    """Writes that only set the priority grouping are not for this rule."""

    id = "reset"
    finds = "a write of SYSRESETREQ or VECTRESET to AIRCR"
    becomes = "hyp_reboot()"
    why = "only this machine may restart"
    samples = (
        Sample(
            _HEADER + "void f(void) { AIRCR = (0x5FAu << 16) | (AIRCR & 0x700) | 4u; }",
            _HEADER + "void f(void) { hyp_reboot(); }",
        ),
        Sample(
            _HEADER + "void f(unsigned x) { unsigned t; t = AIRCR; t &= 0xF8FF; t |= 0x5FA0000; "
            "t |= (x & 7) << 8; AIRCR = t; }",
            _HEADER + "void f(unsigned x) { (void)x; }",
        ),
        Sample(
            _HEADER + "void f(unsigned x) { unsigned t = AIRCR & 0xF8FF; if (x) t |= 4; "
            "AIRCR = t | 0x5FA0000; }",
            "",
            escalates=True,
        ),
        Sample(
            _HEADER + "void f(unsigned x) { unsigned t = 0x5FA0000; t |= (x & 7); AIRCR = t; }",
            "",
            escalates=True,
        ),
        Sample(
            _HEADER + "static void f(unsigned x) { AIRCR = 0x5FA0000 | x; }\n"
            "int main(void) { f(0x500); }",
            _HEADER + "static void f(unsigned x) { (void)x; }\nint main(void) { f(0x500); }",
        ),
        Sample(_HEADER + "void f(unsigned x) { AIRCR = x; }", "", escalates=True),
        Sample(_HEADER + "void f(void) { AIRCR |= 4u; }", "", escalates=True),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Known bits decide; where they aren't known a person does."""
        evaluator = unit.text.evaluator
        for access in unit.accesses():
            if str(access.register) != "SCB->AIRCR" or access.use != "write":
                continue
            value, scope = access.value, called_with(unit, access.context)
            is_keyed = (
                value is not None
                and access.operator == b"="
                and (
                    ones(value, evaluator, scope) & _KEY == _KEY
                    and zeros(value, evaluator, scope) & _KEYS == _KEYS & ~_KEY
                )
            )
            if value is not None and ones(value, evaluator, scope) & _RESET:
                if not is_keyed:
                    yield self.escalated(
                        access.site, "whether this write has AIRCR's key, 0x05FA, isn't known"
                    )
                    continue
                if not access.is_alone:
                    yield self.escalated(access.site, "AIRCR is written inside an expression")
                    continue
                edit = access.replaced(b"hyp_reboot()")
                yield self.rewritten(access.site, "restarts this machine only", edit)
            elif value is None or zeros(value, evaluator, scope, _READS) & _RESET != _RESET:
                yield self.escalated(access.site, "whether this write resets the chip isn't known")
