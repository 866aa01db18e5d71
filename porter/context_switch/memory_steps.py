"""What each instruction of a Thumb function does with addresses: which memory it accesses and what
it fetches from there."""

from __future__ import annotations

from dataclasses import dataclass

from porter.context_switch.decode import Immediate, Instruction, Memory
from porter.context_switch.object_file import Function, ObjectFile
from porter.context_switch.roles import loads_from

_WORDS = frozenset({"ldr", "ldrd", "ldrt", "ldrex", "lda", "ldaex"})
_SINGLE = frozenset({"ldr", "ldrt", "ldrex", "lda", "ldaex"})
_BLOCKS = ("ldm", "stm", "vldm", "vstm")
_NUMBERS = frozenset(
    {"uxtb", "uxth", "sxtb", "sxth", "clz", "rbit", "mul", "udiv", "sdiv", "umull", "smull", "lsl",
     "ldrb", "ldrh", "ldrsb", "ldrsh", "ldrexb", "ldrexh", "strex", "strexb", "strexh", "mrs"}
)  # fmt: skip
_NO_BASE = ("sp", "pc")


@dataclass(frozen=True)
class MemoryStep:
    """`bases`: registers that say where the memory is, besides sp and pc. `fetched`: what gets
    words from there. `symbol`: whose address it gives, None for a number. `is_number`: what it
    writes is no address. `is_float`: that comes from a register of the FPU. `calls`: a place of the
    same section. `text` is what its author wrote."""

    text: str
    bases: tuple[str, ...] = ()
    fetched: tuple[str, ...] = ()
    symbol: str | None = None
    is_number: bool = False
    is_float: bool = False
    calls: int | None = None


def memory_step(unit: ObjectFile, function: Function, it: Instruction) -> MemoryStep:
    """That of one instruction of a function."""
    registers = it.registers()
    if it.name == "bl":
        return MemoryStep(it.text, calls=_called(unit, function, it))
    if it.name.startswith(_BLOCKS):
        bases = tuple(name for name in registers[:1] if name not in _NO_BASE)
        return MemoryStep(it.text, bases, registers[1:] if it.name.startswith("ldm") else ())
    if (place := loads_from(it)) != it.address:
        relocation = unit.relocation(function.section, place)
        name = relocation.symbol if relocation is not None else None
        return MemoryStep(it.text, symbol=name or None, is_number=not name)
    memory = next((part for part in it.operands if isinstance(part, Memory)), None)
    if memory is not None:
        # A shifted index counts elements: it is no address.
        index = memory.index.name if memory.index is not None and not memory.index.shift else "pc"
        bases = tuple(name for name in (memory.base, index) if name not in _NO_BASE)
        fetched = registers[: 1 if it.name in _SINGLE else 2] if it.name in _WORDS else ()
        return MemoryStep(it.text, bases, fetched, is_number=it.name in _NUMBERS)
    relocation = unit.relocation(function.section, it.address)
    if it.name in ("mov", "movw", "movt") and relocation is not None:
        return MemoryStep(it.text, symbol=relocation.symbol or None)
    is_float = it.name == "vmov"
    return MemoryStep(it.text, is_number=it.name in _NUMBERS, is_float=is_float)


def _called(unit: ObjectFile, function: Function, call: Instruction) -> int | None:
    relocation = unit.relocation(function.section, call.address)
    if relocation is None:
        target = call.operands[0] if call.operands else None
        return target.value if isinstance(target, Immediate) else None
    place = relocation.place
    return place[1] & ~1 if place is not None and place[0] == function.section else None
