"""BKPT: breakpoints and semihosting left in the code."""

from __future__ import annotations

from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.target import Target

_SEMIHOSTING = 0xAB


def _judge(value: int, target: Target) -> Judgement | None:
    if value & 0xFF == _SEMIHOSTING:
        if target.policy.semihosting:
            return None
        return Judgement("policy", "a semihosting call: without a debugger it is a fault")
    return Judgement("traps")


RULE = InstructionRule(
    id="bkpt",
    why="without a debugger it is a fault, and the domain is rebooted",
    fix="link --specs=nosys.specs instead of rdimon, and take breakpoints out",
    hardware=(
        "Without a debugger BKPT is a debug fault that escalates to HardFault. With a "
        "debugger it halts the whole chip."
    ),
    manual="ARMv7-M ARM (DDI 0403E) A7.7.17 and C1.5",
    patterns=(Pattern(16, 0xFF00, 0xBE00),),
    judge=_judge,
    invalid=("bkpt 0", "bkpt 0xab", "bkpt 255"),
    valid=("nop", "it eq\n moveq r0, r0"),
)
