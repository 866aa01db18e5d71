"""SETEND: not an M-profile instruction, but simulators run it."""

from __future__ import annotations

from scanner.policy import Policy
from scanner.rules.model import InstructionRule, Judgement, Pattern


def _judge(value: int, policy: Policy) -> Judgement:
    return Judgement("traps")


RULE = InstructionRule(
    id="setend",
    why="an undefined instruction on the chip, though QEMU runs it without a word",
    fix="take it out: no Cortex-M changes its byte order at run time",
    patterns=(Pattern(16, 0xFFF7, 0xB650),),
    judge=_judge,
    invalid=(".inst.n 0xb650", ".inst.n 0xb658"),
    valid=("nop", ".inst.n 0xb640", "rev r0, r1"),
)
