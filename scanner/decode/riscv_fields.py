"""Fields of 32-bit RISC-V instructions, one at a time: for jumps, of which there are few."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

_BRANCHES = {6: "bltu", 7: "bgeu"}
_SHIFT = 1
_IMMEDIATES = {0: "addi", _SHIFT: "slli", 6: "ori", 7: "andi"}


class Fields(NamedTuple):
    """A name for what the value tracker knows, else `other`; registers and a signed immediate.

    `size` is the number of bytes that a load or store moves, or the shift of a shifted sum.
    """

    name: str
    target: int
    left: int = 0
    right: int = 0
    number: int = 0
    size: int = 0


@lru_cache(1 << 14)
def fields(word: int) -> Fields:
    """The parts of an instruction (volume I, 2.2 and 24)."""
    opcode, target, function = word & 0x7F, word >> 7 & 31, word >> 12 & 7
    left, right, top = word >> 15 & 31, word >> 20 & 31, word >> 25
    number = (word >> 20) - (word >> 31 << 12)
    if opcode in (0x37, 0x17):
        return Fields("lui" if opcode == 0x37 else "auipc", target, number=word & 0xFFFFF000)
    if opcode == 0x13:
        if function == _SHIFT and top:
            return Fields("other", target)  # the bits above the distance make it another operation
        name = _IMMEDIATES.get(function, "other")
        return Fields(name, target, left, number=number)
    if opcode == 0x33 and function == 0 and top == 0:
        return Fields("add", target, left, right)
    if opcode == 0x33 and top == 0x10:
        return Fields("shadd", target, left, right, size=function >> 1)
    if opcode == 0x03:
        is_signed_byte = function == 0
        size = 0 if is_signed_byte else 1 << (function & 3)
        return Fields("load", target, left, number=number, size=size)
    if opcode == 0x63:
        return Fields(_BRANCHES.get(function, "other"), 0, left, right)
    if opcode in (0x23, 0x27):
        size = 1 << function if opcode == 0x23 else 0
        return Fields("store", 0, left, right, number & ~31 | target, size)
    if opcode == 0x67:
        return Fields("jalr", target, left, number=number)
    return Fields("other", target)
