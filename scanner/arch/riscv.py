"""RV32 cores with machine and user mode: RV32IMAC, and RV32IMAFC with an FPU."""

from __future__ import annotations

from scanner.arch.model import Architecture
from scanner.decode.riscv import RiscV
from scanner.decode.riscv_disassembler import RiscVDisassembler
from scanner.rules import (
    cbo,
    csr,
    custom,
    ebreak,
    ecall,
    fence_i,
    fpu,
    mmio,
    privileged,
    system_block,
    vector,
    wfi,
)

_RUNS = {"rv32imac": ("rv32imac",), "rv32imafc": ("rv32imac", "rv32imafc")}

RULES = (
    csr.RULE,
    privileged.RULE,
    custom.RULE,
    ecall.RULE,
    ebreak.RULE,
    wfi.RULE,
    fence_i.RULE,
    fpu.RULE,
    vector.RULE,
    cbo.RULE,
)
ADDRESS_RULES = (system_block.RULE, mmio.RULE)


def architecture(name: str) -> Architecture:
    """One of the two; they share tables and differ in what rules make of floating point."""
    return Architecture(name, _RUNS[name], RiscV(), RiscVDisassembler(), RULES, ADDRESS_RULES)
