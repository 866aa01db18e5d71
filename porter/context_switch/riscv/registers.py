"""The machine as the small language sees it (RISC-V psABI, 1.1; Privileged Architecture, 3.1)."""

from __future__ import annotations

CALLEE_SAVED = (8, 9, *range(18, 28))
CALLER_SAVED = (1, 5, 6, 7, *range(10, 18), *range(28, 32))
CALLER_SAVED_FPU = (*range(8), *range(10, 18), *range(28, 32))
ARGUMENT = 10  # a0, the first of them and the result

MSTATUS, MIE, MTVEC, MSCRATCH, MEPC, MCAUSE = 0x300, 0x304, 0x305, 0x340, 0x341, 0x342
FFLAGS, FRM, FCSR = 1, 2, 3
MCYCLE = 0xB00
NAMES = {
    MSTATUS: "mstatus", MIE: "mie", MTVEC: "mtvec", MSCRATCH: "mscratch", MEPC: "mepc",
    MCAUSE: "mcause", 0x343: "mtval", 0x344: "mip", 0xF14: "mhartid", FCSR: "fcsr",
    FFLAGS: "fflags", FRM: "frm", MCYCLE: "mcycle",
}  # fmt: skip
STATUS_MIE, STATUS_MPIE = 1 << 3, 1 << 7


def name_of(csr: int) -> str:
    """A register's name, or its number where it has none here."""
    return NAMES.get(csr, f"{csr:#x}")
