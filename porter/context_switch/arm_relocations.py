"""Relocations of Cortex-M's objects, by number (ELF for the Arm Architecture, 5.6)."""

from __future__ import annotations

R_ARM_ABS32 = 2
R_ARM_THM_CALL = 10
R_ARM_CALL = 28
R_ARM_JUMP24 = 29
R_ARM_THM_JUMP24 = 30
R_ARM_THM_MOVW = 47
R_ARM_THM_MOVT = 48
R_ARM_THM_JUMP19 = 51
R_ARM_THM_JUMP11 = 102
R_ARM_THM_JUMP8 = 103
R_ARM_TLS_LDO32 = 106

JUMPS = frozenset(
    {R_ARM_THM_CALL, R_ARM_CALL, R_ARM_JUMP24, R_ARM_THM_JUMP24, R_ARM_THM_JUMP19,
     R_ARM_THM_JUMP11, R_ARM_THM_JUMP8}
)  # fmt: skip
