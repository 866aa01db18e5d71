"""BKPT: breakpoints and semihosting left in the code."""

from __future__ import annotations

from scanner.policy import Policy
from scanner.rules.model import InstructionRule, Judgement, Pattern

_SEMIHOSTING = 0xAB


def _judge(value: int, policy: Policy) -> Judgement:
    if value & 0xFF == _SEMIHOSTING:
        return Judgement("traps", "a semihosting call: without a debugger it is a fault")
    return Judgement("traps")


RULE = InstructionRule(
    id="bkpt",
    why="without a debugger it is a fault, and the domain is rebooted",
    fix="link --specs=nosys.specs instead of rdimon, and take breakpoints out",
    patterns=(Pattern(16, 0xFF00, 0xBE00),),
    judge=_judge,
    invalid=("bkpt 0", "bkpt 0xab", "bkpt 255"),
    valid=("nop", "it eq\n moveq r0, r0"),
)
