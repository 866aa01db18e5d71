"""Inline assembler that leaves the program."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.rules.rule import Rule, Sample
from porter.sites.site import SiteKind


class Leap(Rule):
    """What it leads to isn't in the machine, or is no place at all."""

    id = "leap"
    finds = "asm that jumps by EXC_RETURN, to a number, or with a stack from memory"
    becomes = "itself"
    why = "a machine has one program and no exceptions of the processor"
    samples = (
        Sample('void f(void) { asm("ldr r0, =0xFFFFFFF9\\n bx r0"); }', "", escalates=True),
        Sample('void f(void) { asm("mvn lr, #6\\n bx lr"); }', "", escalates=True),
        Sample(
            'void f(void) { asm("ldr r0, =0x4000\\n ldr sp, [r0]\\n ldr pc, [r0, #4]"); }',
            "",
            escalates=True,
        ),
        Sample('void f(void) { asm("bx %0" :: "r"(0x8004001)); }', "", escalates=True),
        Sample(
            'void f(void (*g)(void)) { asm("blx %0" :: "r"(g)); }',
            'void f(void (*g)(void)) { asm("blx %0" :: "r"(g)); }',
        ),
    )

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Each for its reason."""
        for site in unit.pending(SiteKind.ASM):
            if (why := unit.found.leaps.get(site)) is not None:
                yield self.escalated(site, why)
