"""SG: a door into the secure world."""

from __future__ import annotations

from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.target import Target


def _judge(value: int, target: Target) -> Judgement:
    return Judgement("silent", what="sg")


RULE = InstructionRule(
    id="sg",
    why="in secure memory that is callable it lets non-secure code in, whatever the privilege",
    fix="compile without -mcmse; guests live in one world",
    hardware=(
        "A call from the non-secure world that meets SG in secure, non-secure-callable memory "
        "turns secure. Met in any other way SG does nothing. On ARMv7-M its bits are a load of two "
        "words relative to PC."
    ),
    manual="ARMv8-M ARM (DDI 0553) C2.4: SG",
    patterns=(Pattern(32, 0xFFFFFFFF, 0xE97FE97F, everywhere=True),),
    judge=_judge,
    invalid=("sg", ".inst.w 0xe97fe97f"),
    valid=("ldrd r2, r3, [pc, #-4]", "nop.w"),
    assembled_for="armv8m.main",
)
