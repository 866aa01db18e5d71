"""VLLDM and VLSTM: the FPU's registers across the border between the worlds."""

from __future__ import annotations

from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.target import Target


def _judge(value: int, target: Target) -> Judgement:
    name = "vlldm" if value & 0x00100000 else "vlstm"
    return Judgement("silent", what=f"{name} r{value >> 16 & 0xF}")


RULE = InstructionRule(
    id="vlstm",
    why="it moves or drops floating-point registers, those that wait to be stacked included",
    fix="compile without -mcmse; guests live in one world",
    hardware=(
        "In the secure state VLSTM stores or defers and clears all floating-point registers and "
        "VLLDM loads them, without privilege. In the non-secure state both do nothing."
    ),
    manual="ARMv8-M ARM (DDI 0553) C2.4: VLLDM, VLSTM",
    patterns=(Pattern(32, 0xFFE00F00, 0xEC200A00, everywhere=True),),
    judge=_judge,
    invalid=("vlstm r0", "vlldm r3", ".inst.w 0xec3d0a7f"),
    valid=("vstmia r0!, {s0-s3}", "vldr s0, [r0]"),
    assembled_for="armv8m.main",
)
