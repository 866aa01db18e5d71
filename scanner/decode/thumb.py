"""Thumb and Thumb-2 as the M-profile runs them (ARMv7-M ARM, chapter A5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.instruction_set import Flags, Flow, FlowKind, Indices
from scanner.decode.literals import literal_halfwords

_PC = 15
_ALWAYS = 14


class Thumb:
    """The instruction set of every Cortex-M."""

    name = "thumb"
    code_markers = b"t"

    def __init__(self) -> None:
        first = np.arange(0x10000, dtype=np.uint32)
        self.wide: Flags = first >= 0xE800
        self.ordinary: Flags = ~_special(first)

    def join(
        self, first: npt.NDArray[np.uint32], second: npt.NDArray[np.uint32]
    ) -> npt.NDArray[np.uint32]:
        """First halfword on top, as the manual prints 32-bit encodings."""
        joined: npt.NDArray[np.uint32] = first << np.uint32(16) | second
        return joined

    def first_half(self, bits: int, value: int) -> int:
        """All of a 16-bit encoding, the upper half of a 32-bit one."""
        return value >> 16 if bits == 32 else value

    def code_address(self, pointer: int) -> int | None:
        """Bit 0 of a code pointer says Thumb; without it a branch faults."""
        return pointer - 1 if pointer & 1 else None

    def vector_entries(self, words: Sequence[int]) -> list[int]:
        """Initial SP, then odd addresses or zeros up to the first word that is neither."""
        if len(words) < 2 or words[0] % 4 or not words[1] & 1:
            return []
        entries = []
        for word in words[1:]:
            if word and not word & 1:
                break
            if word:
                entries.append(word)
        return entries

    def literals(self, space: CodeSpace, starts: Flags) -> Indices:
        """What LDR, LDRD and VLDR address by PC."""
        return literal_halfwords(space, starts)

    def flow(self, first: int, second: int) -> Flow:
        """Decode branches, writes to PC, IT and UDF; anything else goes on."""
        return _flow32(first, second) if first >= 0xE800 else _flow16(first)


def _special(first: npt.NDArray[np.uint32]) -> Flags:
    """First halfwords that may begin something `flow` has to look at."""
    special: Flags = (first & 0xF500) == 0xB100  # CBZ, CBNZ
    for mask, match in (
        (0xF000, 0xD000),  # B<c>, UDF, SVC
        (0xF800, 0xE000),  # B
        (0xFF00, 0x4700),  # BX, BLX
        (0xFF87, 0x4687),  # MOV PC
        (0xFF87, 0x4487),  # ADD PC
        (0xFF00, 0xBD00),  # POP {.., PC}
        (0xFF00, 0xBF00),  # IT
        (0xF800, 0xF000),  # B.W, BL
        (0xFFD0, 0xE890),  # LDM
        (0xFFD0, 0xE910),  # LDMDB
        (0xFF70, 0xF850),  # LDR
        (0xFFF0, 0xE8D0),  # TBB, TBH
    ):
        special |= (first & mask) == match
    return special


def _flow16(first: int) -> Flow:
    top = first >> 8
    if top == 0xBF and first & 0xF:
        return _if_then(first)
    if first & 0xF500 == 0xB100:
        return Flow(FlowKind.BRANCH, 1, 2 + ((first >> 9 & 1) << 5 | first >> 3 & 0x1F))
    if top == 0xDE:
        return Flow(FlowKind.STOP, 1)
    if first & 0xF000 == 0xD000 and top != 0xDF:
        return Flow(FlowKind.BRANCH, 1, 2 + _signed(first & 0xFF, 8))
    if first & 0xF800 == 0xE000:
        return Flow(FlowKind.JUMP, 1, 2 + _signed(first & 0x7FF, 11))
    is_branch_exchange = first & 0xFF80 == 0x4700
    if is_branch_exchange or first & 0xFF87 in (0x4687, 0x4487) or top == 0xBD:
        return Flow(FlowKind.RETURN, 1)
    return Flow(FlowKind.NEXT, 1)


def _if_then(first: int) -> Flow:
    """IT: the mask's lowest set bit ends the block of one to four instructions."""
    mask = first & 0xF
    if first >> 4 & 0xF == _ALWAYS:
        return Flow(FlowKind.NEXT, 1)
    return Flow(FlowKind.NEXT, 1, conditional=4 - ((mask & -mask).bit_length() - 1))


def _flow32(first: int, second: int) -> Flow:
    if first & 0xF800 == 0xF000 and second & 0x8000:
        return _branch32(first, second)
    loads_pc = first & 0xFF70 == 0xF850 and second >> 12 == _PC
    pops_pc = first & 0xFFD0 in (0xE890, 0xE910) and second & 0x8000
    table_branch = first & 0xFFF0 == 0xE8D0 and second & 0xFFE0 == 0xF000
    if loads_pc or pops_pc or table_branch:
        return Flow(FlowKind.RETURN, 2)
    return Flow(FlowKind.NEXT, 2)


def _branch32(first: int, second: int) -> Flow:
    form = second & 0x5000
    sign = first >> 10 & 1
    if form == 0 and first >> 7 & 7 != 7:
        bits = second >> 11 & 1, second >> 13 & 1, first & 0x3F, second & 0x7FF
        offset = sign << 19 | bits[0] << 18 | bits[1] << 17 | bits[2] << 11 | bits[3]
        return Flow(FlowKind.BRANCH, 2, 2 + _signed(offset, 20))
    if form == 0:
        udf = first & 0xFFF0 == 0xF7F0 and second & 0xF000 == 0xA000
        return Flow(FlowKind.STOP if udf else FlowKind.NEXT, 2)
    if form == 0x4000:  # BLX to ARM code faults on every M-profile core
        return Flow(FlowKind.STOP, 2)
    upper = 1 ^ sign ^ (second >> 13 & 1), 1 ^ sign ^ (second >> 11 & 1)
    offset = sign << 23 | upper[0] << 22 | upper[1] << 21 | (first & 0x3FF) << 11 | second & 0x7FF
    kind = FlowKind.CALL if form == 0x5000 else FlowKind.JUMP
    return Flow(kind, 2, 2 + _signed(offset, 24))


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value
