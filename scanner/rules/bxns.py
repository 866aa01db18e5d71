"""BXNS and BLXNS: the ARMv8-M return to the non-secure world, met on a core without one."""

from __future__ import annotations

from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.target import Target


def _judge(value: int, target: Target) -> Judgement:
    call = "bl" if value & 0x80 else "b"
    return Judgement("policy", what=f"{call}xns r{value >> 3 & 0xF}")


RULE = InstructionRule(
    id="bxns",
    why="on this core a BX with a bit set that should be zero: what it does is not defined",
    fix="compile for the core of the chip, without -mcmse",
    hardware=(
        "On ARMv6-M and ARMv7-M the low bits of BX and BLX should be zero, and cores ignore "
        "or fault a bit that is set. On ARMv8-M they are calls and returns to the non-secure "
        "world."
    ),
    manual="ARMv7-M ARM (DDI 0403E) A7.7.20; ARMv8-M ARM (DDI 0553) C2.4.20 and C2.4.22",
    patterns=(Pattern(16, 0xFF84, 0x4704), Pattern(16, 0xFF84, 0x4784)),
    judge=_judge,
    invalid=(".inst.n 0x4704", ".inst.n 0x4774", ".inst.n 0x479c"),
    valid=("bx lr", "blx r3", "mov r0, r1"),
)
