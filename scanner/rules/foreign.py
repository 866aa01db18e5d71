"""Instructions of the A and R profiles, which no Cortex-M has."""

from __future__ import annotations

from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.target import Target

_CPS_W = Pattern(32, 0xFFF0D000, 0xF3A08000)
_BLX = Pattern(32, 0xF800D001, 0xF000C000)


def _judge(value: int, target: Target) -> Judgement | None:
    if value & _CPS_W.mask == _CPS_W.match:
        is_hint = not value & 0x700
        return None if is_hint else Judgement("traps")
    if value & _BLX.mask == _BLX.match:
        return Judgement("traps", "Arm state doesn't exist on this core: a usage fault (INVSTATE)")
    return Judgement("traps")


RULE = InstructionRule(
    id="foreign",
    why="no Cortex-M has this instruction: a usage fault",
    fix="compile for the core of the chip",
    hardware=(
        "A usage fault: UNDEFINSTR for instructions that don't exist on the M-profile, "
        "INVSTATE for a change to Arm state."
    ),
    manual="ARMv7-M ARM (DDI 0403E) A5.3.4 and A4.1.1",
    patterns=(
        _CPS_W,
        _BLX,
        Pattern(16, 0xFFC0, 0xBA80),  # HLT
        Pattern(32, 0xFFF0F000, 0xF7F08000),  # SMC
        Pattern(32, 0xFFF0F000, 0xF7E08000),  # HVC
        Pattern(32, 0xFFF0D000, 0xF3C08000),  # BXJ
        Pattern(32, 0xFFF0D000, 0xF3D08000),  # SUBS PC, LR and ERET
        Pattern(32, 0xFFC00000, 0xE8000000),  # SRSDB, RFEDB
        Pattern(32, 0xFFC00000, 0xE9800000),  # SRSIA, RFEIA
        Pattern(32, 0xFF100000, 0xF9000000),  # VLD1 to VLD4, VST1 to VST4
        Pattern(32, 0xFFF0D000, 0xF7808000),  # DCPS1 to DCPS3
    ),
    judge=_judge,
    tells_cores=True,
    invalid=(
        ".inst.n 0xbabf",
        ".inst.w 0xf7f08000",
        ".inst.w 0xf7e08000",
        ".inst.w 0xf3c08f00",
        ".inst.w 0xf3de8f00",
        ".inst.w 0xf3de8f04",
        ".inst.w 0xe810c000",
        ".inst.w 0xe9b0c000",
        ".inst.w 0xe82dc011",
        ".inst.w 0xe98dc013",
        ".inst.w 0xf3af8740",
        ".inst.w 0xf3af8513",
        ".inst.w 0xf000e800",
        ".inst.w 0xf920078f",
        ".inst.w 0xf9000a0d",
        ".inst.w 0xf78f8001",
    ),
    valid=(
        "bl .",
        "stmia.w r0, {r1, r2}",
        "ldmdb r0, {r1, r2}",
        "udf.w 1",
        "nop.w",
        "dsb",
        "ldrsh r0, [r1]",
    ),
)
