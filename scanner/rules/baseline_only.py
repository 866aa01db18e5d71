"""Instructions of larger cores in a program for ARMv6-M."""

from __future__ import annotations

from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.target import Target

_BARRIERS = range(0xF3BF8F40, 0xF3BF8F70)


def _judge(value: int, target: Target) -> Judgement | None:
    """Of the wide encodings ARMv6-M has BL, UDF, MSR, MRS and barriers."""
    special = value & 0xFFE0D000 in (0xF3808000, 0xF3E08000)
    undefined = value & 0xFFF0F000 == 0xF7F0A000
    if value >> 16 == 0 or not (special or undefined or value in _BARRIERS):
        return Judgement("traps")
    return None


RULE = InstructionRule(
    id="foreign",
    why="ARMv6-M has no such instruction: a hard fault",
    fix="compile for the core of the chip: -mcpu=cortex-m0plus",
    hardware=(
        "Undefined on ARMv6-M, which has no UsageFault: every undefined instruction is a HardFault."
    ),
    manual="ARMv6-M ARM (DDI 0419E) A5.2, A5.3 and B1.5.1",
    patterns=(
        Pattern(16, 0xF500, 0xB100),  # CBZ, CBNZ
        Pattern(16, 0xFFC0, 0xBA80),  # HLT
        *(Pattern(16, 0xFF00 | bit, 0xBF00 | bit) for bit in (1, 2, 4, 8)),  # IT
        Pattern(32, 0xF8008000, 0xF0000000),
        Pattern(32, 0xF800D000, 0xF0008000),
        Pattern(32, 0xF800D000, 0xF0009000),
        Pattern(32, 0xF800D000, 0xF000C000),  # BLX into Arm state
        Pattern(32, 0xF8000000, 0xE8000000),
        Pattern(32, 0xF8000000, 0xF8000000),
    ),
    judge=_judge,
    tells_cores=True,
    invalid=(
        ".inst.n 0xb130", ".inst.n 0xbf18", ".inst.w 0xf04f30e0", ".inst.w 0xf240b672",
        ".inst.w 0xf000b800", ".inst.w 0xe8bd8010", ".inst.w 0xfbb0f1f2", ".inst.w 0xf8d00004",
        ".inst.w 0xf000e800",
    ),
    valid=("bl .", "dmb", "isb", "mrs r0, apsr", ".inst.w 0xf7f0a001", "bx lr", "rev r0, r1"),
    assembled_for="armv6m",
)  # fmt: skip
