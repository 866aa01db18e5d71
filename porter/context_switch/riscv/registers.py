"""The machine as the small language sees it (RISC-V psABI, 1.1; Privileged Architecture, 3.1)."""

from __future__ import annotations

CALLEE_SAVED = (8, 9, *range(18, 28))
CALLER_SAVED = (1, 5, 6, 7, *range(10, 18), *range(28, 32))
CALLER_SAVED_FPU = (*range(8), *range(10, 18), *range(28, 32))
ARGUMENT = 10  # a0, the first of them and the result

MSTATUS, MIE, MTVEC, MSCRATCH, MEPC, MCAUSE = 0x300, 0x304, 0x305, 0x340, 0x341, 0x342
MTVAL, MIP, MHARTID = 0x343, 0x344, 0xF14
FFLAGS, FRM, FCSR = 1, 2, 3
MCYCLE, MINSTRET, MCYCLEH, MINSTRETH = 0xB00, 0xB02, 0xB80, 0xB82
CYCLE, TIME, INSTRET, CYCLEH, TIMEH, INSTRETH = 0xC00, 0xC01, 0xC02, 0xC80, 0xC81, 0xC82
NAMES = {
    MSTATUS: "mstatus", MIE: "mie", MTVEC: "mtvec", MSCRATCH: "mscratch", MEPC: "mepc",
    MCAUSE: "mcause", MTVAL: "mtval", MIP: "mip", MHARTID: "mhartid", FCSR: "fcsr",
    FFLAGS: "fflags", FRM: "frm", MCYCLE: "mcycle", MINSTRET: "minstret", MCYCLEH: "mcycleh",
    MINSTRETH: "minstreth", CYCLE: "cycle", TIME: "time", INSTRET: "instret", CYCLEH: "cycleh",
    TIMEH: "timeh", INSTRETH: "instreth",
}  # fmt: skip
_COUNTS = "read mcycle, which becomes virt_cycles(): 32 bits of the core's cycles"
_INSTEAD = {
    MEPC: "in VCT, where handlers run, USR_REG->Reg.PC is where the interrupted code goes on",
    MCAUSE: "in VCT, where handlers run, C reads virt_cause()",
    MTVAL: "only faults set it, and the kernel takes every fault",
    MIP: "the interrupt that is served is in mcause, others come by themselves",
    MHARTID: "it runs on one hart; write its number here",
    **dict.fromkeys(
        (MCYCLE, CYCLE), "others count with it, too; take differences of what virt_cycles() reads"
    ),
    **dict.fromkeys((MCYCLEH, CYCLEH, TIME, TIMEH), _COUNTS),
    **dict.fromkeys(
        (MINSTRET, MINSTRETH, INSTRET, INSTRETH),
        f"it would count what others run, too; {_COUNTS}",
    ),
}
CYCLE_COUNTERS = frozenset({MCYCLE, CYCLE})  # one counter, for machine mode and for all
STATUS_MIE, STATUS_MPIE = 1 << 3, 1 << 7


def why_not(csr: int) -> str:
    """Why a guest has no use for a register, and what to do."""
    if csr in _INSTEAD:
        return f"a guest has no {NAMES[csr]}: {_INSTEAD[csr]}"
    if csr in NAMES:
        return f"a guest has no {NAMES[csr]}"
    return (
        f"a guest has no CSR {csr:#x}, which is the vendor's or the debugger's, and of a task only "
        "the standard's registers are kept: build without what uses it, and take this out"
    )
