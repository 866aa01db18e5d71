"""What an assembler function takes that no header declares: the argument registers it reads."""

from __future__ import annotations

from porter.context_switch.lift_state import Signature
from porter.context_switch.object_file import ObjectFile
from porter.context_switch.riscv.decode import (
    BRANCHES,
    CSR_ACCESSES,
    RA,
    STORES,
    Instruction,
    branch_target,
)
from porter.context_switch.riscv.registers import ARGUMENT

_ARGUMENTS = range(ARGUMENT, ARGUMENT + 8)
_NO_RESULT = frozenset({*BRANCHES, *STORES, "fsw", "flw", "mret", "ecall", "fence"})


def parameters_read(
    unit: ObjectFile, section: int, found: dict[int, Instruction]
) -> Signature | None:
    """Words in a0 and up, as far as one is read before it is written; None where it calls others,
    which may read them too."""
    if any(it.name in ("jal", "jalr") and it.rd == RA for it in found.values()):
        return None
    live: dict[int, set[int]] = {address: set() for address in found}
    changed = True
    while changed:
        changed = False
        for address, it in reversed(found.items()):
            after: set[int] = set()
            target = branch_target(unit, section, it)
            for place in (target, None if it.ends_flow() else it.next):
                after |= live.get(place, set()) if place is not None else set()
            before = (after - ({it.rd} - _unwritten(it))) | _read(it)
            if before != live[address]:
                live[address], changed = before, True
    wanted = live[min(found)] & set(_ARGUMENTS)
    count = max(wanted) - ARGUMENT + 1 if wanted else 0
    return Signature((False,) * count, False)


def _unwritten(it: Instruction) -> set[int]:
    return {it.rd} if it.name in _NO_RESULT else set()


def _read(it: Instruction) -> set[int]:
    if it.name in CSR_ACCESSES:
        return set() if it.name.endswith("i") else {it.rs1}
    return set() if it.name in ("lui", "auipc", "jal") else {it.rs1, it.rs2}
