"""USR_REG and fvm_state of RV32 as the proof sees them: <fvm/usr_reg.h>, <fvm/state.h>."""

from __future__ import annotations

from collections.abc import Sequence

from porter.context_switch.proof.model import MASKS, PENDING, TASK_NAME, USR_REG

CORE = tuple(f"x{number}" for number in range(1, 32))
FPU = tuple(f"f{number}" for number in range(32))
CONTEXT = (*CORE, "mepc", "mstatus", *FPU, "fcsr")
USR_WORDS = len(CONTEXT)
BLOCK_WORDS = USR_REG // 4 + USR_WORDS + (8 + 64) // 4  # behind USR_REG: pending bytes
_FREE = {PENDING // 4, TASK_NAME // 4, *range(USR_REG // 4, USR_REG // 4 + USR_WORDS)}

CSRS = {0x300: "mstatus", 0x340: "mscratch", 0x341: "mepc", 0x342: "mcause", 0x003: "fcsr"}
MTVEC_REGISTER = 0x305
CYCLE_REGISTERS = frozenset({0xB00, 0xC00})  # mcycle, cycle: Unprivileged ISA, 7.1
MIE_REGISTER = 0x304  # writes of it mean nothing to a guest, whose lines are opened by calls

CALLER_SAVED = (1, 5, 6, 7, *range(10, 18), *range(28, 32))
CALLEE_SAVED = (8, 9, *range(18, 28))
CALLER_SAVED_FPU = (*range(8), *range(10, 18), *range(28, 32))
ARGUMENTS = tuple(range(10, 18))

STATUS_MIE, STATUS_MPIE, STATUS_MPP, STATUS_FS = 1 << 3, 1 << 7, 3 << 11, 3 << 13
CAUSES = (11, 3, 8, 0x8000_0007, 0x8000_0003, 0x8000_000B, 2, 0x8000_0010)

CAUSE, STATUS = "virt_cause", "virt_mstatus"


def kept(block: Sequence[object]) -> list[object]:
    """Words of fvm_state that a port must leave alone, the masks aside."""
    return [word for index, word in enumerate(block) if index not in _FREE and index != MASKS // 4]
