"""Where a Cortex-M's instruction may go on, or let others go on, by an address that it makes."""

from __future__ import annotations

from porter.context_switch import decode
from porter.context_switch.object_file import Function, ObjectFile

SIGNS = {"add": 1, "addw": 1, "sub": -1, "subw": -1}
_BRANCHES = frozenset({"b", "bl", "blx", "bx", "cbz", "cbnz"})


def taken(it: decode.Instruction) -> int | None:
    """The address near an instruction that it takes: adr, and how Capstone spells it otherwise."""
    last = it.operands[-1] if it.operands else None
    from_pc = it.name == "adr" or (it.name in SIGNS and it.registers()[1:] == ("pc",))
    if not from_pc or not isinstance(last, decode.Immediate):
        return None
    return (it.address + 4 & ~3) + SIGNS.get(it.name, 1) * last.value


def calculates(unit: ObjectFile, function: Function, it: decode.Instruction, jumps: bool) -> bool:
    """Whether an instruction other than a branch goes to an address that it makes or takes from a
    table, or copies pc for another to do so: not one that a register, a word on the stack or a
    field holds, as of a function."""
    if it.name in ("tbb", "tbh"):  # of which Capstone doesn't say that they write pc
        return True
    if not jumps:
        return "pc" in it.registers()[1:] and taken(it) is None
    if it.name in ("pop", *_BRANCHES) or it.name.startswith("ldm"):
        return False
    if it.name == "mov":
        return "pc" in it.registers()[1:]
    memory = next((part for part in it.operands if isinstance(part, decode.Memory)), None)
    if it.name != "ldr" or memory is None or memory.index is not None:
        return True
    if memory.base != "pc":
        return False
    word = unit.relocation(function.section, (it.address + 4 & ~3) + memory.displacement)
    functions = {name for other in unit.functions for name in other.names}
    return word is None or (word.place is not None and word.symbol not in functions)
