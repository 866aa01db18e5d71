"""BXNS and BLXNS: the ARMv8-M return to the non-secure world, met on a core without one."""

from __future__ import annotations

from scanner.policy import Policy
from scanner.rules.model import InstructionRule, Judgement, Pattern


def _judge(value: int, policy: Policy) -> Judgement:
    call = "bl" if value & 0x80 else "b"
    return Judgement("policy", what=f"{call}xns r{value >> 3 & 0xF}")


RULE = InstructionRule(
    id="bxns",
    why="on this core a BX with a bit set that should be zero: what it does is not defined",
    fix="compile for the core of the chip, without -mcmse",
    patterns=(Pattern(16, 0xFF84, 0x4704), Pattern(16, 0xFF84, 0x4784)),
    judge=_judge,
    invalid=(".inst.n 0x4704", ".inst.n 0x4774", ".inst.n 0x479c"),
    valid=("bx lr", "blx r3", "mov r0, r1"),
)
