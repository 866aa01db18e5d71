"""What an RV32 function with privileged instructions is, by what it does."""

from __future__ import annotations

from collections.abc import Iterable

from porter.context_switch.result import ROLE_OTHER, ROLE_START, ROLE_SWITCH
from porter.context_switch.riscv.decode import CSR_ACCESSES, LOADS, SP, STORES, Instruction
from porter.context_switch.riscv.registers import MCAUSE, MEPC, MSCRATCH, MSTATUS
from porter.registers.riscv_blocks import riscv_space

_WORD = 0xFFFF_FFFF
_PRIVILEGED = frozenset({"mret", "ecall", "wfi"})


def classify(instructions: Iterable[Instruction]) -> str | None:
    """The role, or None for a function without privileged instructions.

    What ends with mret and looks at the trap that led to it is a trap handler; what ends with mret
    without, or takes sp from memory, sets mstatus and returns, goes to the first task.
    """
    found = list(instructions)
    accessed = {it.csr for it in found if it.name in CSR_ACCESSES}
    read = {it.csr for it in found if it.name in CSR_ACCESSES and it.rd != 0}
    ends = any(it.name == "mret" for it in found)
    if ends and read & {MCAUSE, MEPC, MSCRATCH}:
        return ROLE_SWITCH
    moves = any(it.name in LOADS and it.rd == SP for it in found)
    if ends or (moves and MSTATUS in accessed):
        return ROLE_START
    return ROLE_OTHER if is_privileged(found) else None


def touches_system(instructions: Iterable[Instruction]) -> bool:
    """Whether a load or store goes to a chip's interrupt controller or timer, by an address that
    the code has as a number."""
    known: dict[int, int] = {}
    space = riscv_space(None)
    for it in instructions:
        base = known.get(it.rs1)
        accesses = it.name in LOADS or it.name in STORES
        if accesses and base is not None and space.holds(base + it.immediate & _WORD):
            return True
        if it.name in STORES:
            continue
        known.pop(it.rd, None)
        if it.name == "lui" and it.rd:
            known[it.rd] = it.immediate & _WORD
        elif it.name == "addi" and base is not None and it.rd:
            known[it.rd] = base + it.immediate & _WORD
    return False


def is_privileged(instructions: Iterable[Instruction]) -> bool:
    """Whether a guest can't run it: machine CSRs are 0x300 and up, 0x7C0 and 0x800 vendors'."""
    return any(
        it.name in _PRIVILEGED or (it.name in CSR_ACCESSES and it.csr >= 0x300 and it.csr < 0xC00)
        for it in instructions
    )
