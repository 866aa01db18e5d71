"""The machines whose ports are proved, and which of them an object is for."""

from __future__ import annotations

from io import BytesIO

from elftools.elf.elffile import ELFFile

from porter.context_switch.proof.cortex_m import CORTEX_M
from porter.context_switch.proof.riscv.target import RV32
from porter.context_switch.proof.target import Target

_TARGETS = (CORTEX_M, RV32)


def target_of(raw: bytes) -> Target:
    """Which machine an object is for."""
    machine = ELFFile(BytesIO(raw))["e_machine"]
    return next((it for it in _TARGETS if it.elf == machine), CORTEX_M)
