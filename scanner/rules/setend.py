"""SETEND: not an M-profile instruction, but simulators run it."""

from __future__ import annotations

from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.target import Target


def _judge(value: int, target: Target) -> Judgement:
    return Judgement("traps")


RULE = InstructionRule(
    id="setend",
    why="an undefined instruction on the chip, though QEMU runs it without a word",
    fix="take it out: no Cortex-M changes its byte order at run time",
    hardware="Undefined on every M-profile core: a usage fault. QEMU 7.2 runs it without a word.",
    manual="ARMv7-M ARM (DDI 0403E) A5.2.5",
    patterns=(Pattern(16, 0xFFF7, 0xB650),),
    judge=_judge,
    invalid=(".inst.n 0xb650", ".inst.n 0xb658"),
    valid=("nop", ".inst.n 0xb640", "rev r0, r1"),
)
