"""SCB->AIRCR where code computes priorities from how they are grouped."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from porter.flow.dead_slice import Alive, DeadSlice
from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.meaning.no_value import has_no_value
from porter.rules.rule import Rule, Sample
from porter.sites.access import Access
from porter.source.c_tree import text_of

_ELSEWHERE = re.compile(rb"AIRCR|(?i:0xE000ED0C)|SetPriorityGrouping")
_HEADER = (
    "#define AIRCR (*(volatile unsigned *)0xE000ED0C)\n"
    "#define IP ((volatile unsigned char *)0xE000E400)\n"
)
_MAIN = "int main(void) { set(0x300); f(1); for (;;) { } }\n"


class PriorityGrouping(Rule):
    """All of a program's accesses, or none: what is read is what was written."""

    id = "priority-grouping"
    finds = "AIRCR's PRIGROUP, where a priority is computed from it"
    becomes = "virt_aircr_set(value), virt_aircr()"
    why = "priorities have no groups in a machine, and the byte that is computed orders them"
    samples = (
        Sample(
            _HEADER + "void set(unsigned group) { AIRCR = 0x05FA0000 | group; }\n"
            "void f(int p)\n{\n    unsigned sub = (0x700 - (AIRCR & 0x700)) >> 8;\n"
            "    IP[37] = p << (4 - sub) << 4;\n}\n" + _MAIN,
            _HEADER + "void set(unsigned group) { virt_aircr_set(0x05FA0000 | group); }\n"
            "void f(int p)\n{\n    unsigned sub = (0x700 - (virt_aircr() & 0x700)) >> 8;\n"
            "    virt_vct_prio(fvm_virt_of_irq(37), p << (4 - sub));\n}\n" + _MAIN,
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Where the register is this file's own affair."""
        accesses = [it for it in unit.accesses() if str(it.register) == "SCB->AIRCR"]
        if not _asks(unit, accesses) or unit.other_sources_have(_ELSEWHERE):
            return
        if not all(_is_plain(unit, it, accesses) for it in accesses):
            return
        for access in accesses:
            text = b"virt_aircr()"
            if access.use == "write" and access.value is not None:
                text = b"virt_aircr_set(%s)" % text_of(access.value)
            reason = "a machine keeps how priorities were grouped"
            yield self.rewritten(access.site, reason, access.replaced(text))


def _asks(unit: Unit, accesses: Sequence[Access]) -> bool:
    """Whether what is read matters to more than the writes of the register."""
    writes = {it.whole.id for it in accesses if it.use == "write"}
    slicer = DeadSlice(
        unit.variables, unit.text.evaluator, lambda it: it.id in writes, unit.reads_device, False
    )
    for access in accesses:
        is_own = access.context.tree is unit.variables.tree
        if access.use != "read" or not is_own or _is_within(access, accesses):
            continue
        try:
            slicer.of_read(access.whole)
        except Alive:
            return True
    return False


def _is_plain(unit: Unit, access: Access, accesses: Sequence[Access]) -> bool:
    """Whether a function reads the register, or writes all of it, and not what it reads there."""
    if access.context.kind != "function" or access.inside is not None:
        return False
    if access.use == "write":
        is_whole = access.operator == b"=" and access.value is not None
        return is_whole and has_no_value(unit, access)
    return access.use == "read" and not _is_within(access, accesses)


def _is_within(access: Access, accesses: Sequence[Access]) -> bool:
    """Whether a register is read for the value of a write of it."""
    return any(
        it.use == "write"
        and it.whole.start_byte <= access.whole.start_byte
        and access.whole.end_byte <= it.whole.end_byte
        for it in accesses
    )
