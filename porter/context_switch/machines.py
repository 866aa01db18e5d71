"""The machines that are known, and which of them an object is for."""

from __future__ import annotations

from elftools.elf.elffile import ELFFile

from porter.context_switch.cortex_m import CORTEX_M
from porter.context_switch.machine import Machine
from porter.context_switch.riscv.machine import RV32

USUAL = CORTEX_M
"""What is taken for a project's machine where nothing says another."""
MACHINES = (USUAL, RV32)


def machine_of_object(elf: ELFFile) -> Machine:
    """Which machine an object is for."""
    return next((it for it in MACHINES if it.elf == elf["e_machine"]), USUAL)
