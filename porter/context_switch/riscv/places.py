"""What the linker will put into instructions: names behind the halves of addresses, and callees."""

from __future__ import annotations

from porter.context_switch.ir import Symbol
from porter.context_switch.object_file import ObjectFile, Relocation
from porter.context_switch.result import NotTranscribable
from porter.context_switch.riscv.decode import Instruction

# R_RISCV_* (RISC-V ELF psABI, 8.5).
_CALLS = (18, 19)
_PCREL_HI, _PCREL_LO, _HI, _LO = 23, (24, 25), 26, (27, 28)


def symbol_behind(
    unit: ObjectFile, section: int, second: Instruction, known: dict[int, Instruction]
) -> tuple[Symbol, Instruction] | None:
    """The address that an instruction completes, and the instruction with its upper half; None for
    one that completes nothing. NotTranscribable where the halves don't fit."""
    relocation = unit.relocation(section, second.address)
    if relocation is None:
        return None
    if relocation.kind in _PCREL_LO and relocation.place is not None:
        first = known.get(relocation.place[1])
    elif relocation.kind in _LO:
        first = _upper_half(unit, section, second, relocation, known)
    else:
        return None
    whole = unit.relocation(section, first.address) if first is not None else None
    if first is None or whole is None or first.rd != second.rs1:
        raise NotTranscribable(f"'{second.text}' completes an address that isn't understood")
    if whole.kind not in (_PCREL_HI, _HI) or not whole.symbol:
        raise NotTranscribable(f"'{first.text}' has an unknown relocation")
    return Symbol(whole.symbol, whole.offset), first


def _upper_half(
    unit: ObjectFile,
    section: int,
    second: Instruction,
    relocation: Relocation,
    known: dict[int, Instruction],
) -> Instruction | None:
    """The lui of the same symbol that was the last to write the base register."""
    writers = [it for it in known.values() if it.address < second.address and it.rd == second.rs1]
    for it in sorted(writers, key=lambda it: -it.address):
        whole = unit.relocation(section, it.address)
        if it.name == "lui" and whole is not None and whole.kind == _HI:
            fits = (whole.symbol, whole.offset) == (relocation.symbol, relocation.offset)
            return it if fits else None
    return None


def callee(
    unit: ObjectFile, section: int, jump: Instruction, known: dict[int, Instruction]
) -> str | None:
    """The function that a jal, or an auipc with jalr, goes to."""
    relocation = unit.relocation(section, jump.address)
    if jump.name == "jalr":
        upper = [it for it in known.values() if it.next == jump.address and it.name == "auipc"]
        relocation = unit.relocation(section, upper[0].address) if upper else None
        if relocation is None or relocation.kind not in _CALLS or upper[0].rd != jump.rs1:
            return None
    if relocation is not None and relocation.symbol:
        return relocation.symbol
    if jump.name == "jal" and relocation is None:
        return unit.name_at(section, jump.address + jump.immediate)
    return None
