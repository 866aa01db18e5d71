"""TT, TTT, TTA and TTAT: what the protection units say of an address."""

from __future__ import annotations

from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.target import Target

_NAMES = ("tt", "ttt", "tta", "ttat")


def _judge(value: int, target: Target) -> Judgement:
    what = f"{_NAMES[value >> 6 & 3]} r{value >> 8 & 0xF}, r{value >> 16 & 0xF}"
    return Judgement("policy", what=what)


RULE = InstructionRule(
    id="tt",
    why="it tells which region holds an address: the layout of memory that isn't the domain's",
    fix="compile without -mcmse, and take the question out",
    hardware=(
        "TT runs without privilege. It then says of an address whether the current state may read "
        "and write it, and in the secure state also what the security attribution is."
    ),
    manual="ARMv8-M ARM (DDI 0553) C2.4: TT, TTT, TTA, TTAT",
    patterns=(Pattern(32, 0xFFF0F000, 0xE840F000),),
    judge=_judge,
    invalid=("tt r0, r1", "ttt r2, r3", "tta r12, r0", "ttat r5, r6"),
    valid=("strex r0, r1, [r2]", "ldrex r1, [r2]"),
    assembled_for="armv8m.main",
)
