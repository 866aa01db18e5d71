"""Thumb and Thumb-2 as the M-profile runs them (ARMv7-M ARM, chapter A5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.effects import Constants, Direct, Effects
from scanner.decode.instruction_set import Flags, Flow, Flows, Halfwords, Indices
from scanner.decode.literals import literal_halfwords
from scanner.decode.thumb_constants import constants
from scanner.decode.thumb_effects import effects
from scanner.decode.thumb_tables import (
    TableReader,
    calls_by_table,
    loaded_targets,
    pointed_functions,
)
from scanner.decode.thumb_vectors import vectors

_WIDE = 0xE800
_LINK = 14
_PC = 15


class Thumb:
    """The instruction set of every Cortex-M."""

    name = "thumb"
    code_markers = b"t"
    mixes_constants = True
    starts_with_code = False
    padding: tuple[int, ...] = (0x0000, 0xBF00, 0x46C0)
    arguments = 0x000F
    clobbered = 0x500F

    def __init__(self) -> None:
        first = np.arange(0x10000, dtype=np.int32)
        self.wide: Flags = first >= _WIDE
        self._narrow = _narrow_flows(first)
        self.ordinary: Flags = (self._narrow.kind == Flow.NEXT) & (self._narrow.conditional == 0)
        self.ordinary &= ~_may_branch(first)

    def join(
        self, first: npt.NDArray[np.uint32], second: npt.NDArray[np.uint32]
    ) -> npt.NDArray[np.uint32]:
        """First halfword on top, as the manual prints 32-bit encodings."""
        joined: npt.NDArray[np.uint32] = first << np.uint32(16) | second
        return joined

    def first_half(self, bits: int, value: int) -> int:
        """All of a 16-bit encoding, the upper half of a 32-bit one."""
        return value >> 16 if bits == 32 else value

    def code_addresses(self, pointers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Bit 0 of a code pointer says Thumb; without it a branch faults."""
        return np.where(pointers & 1, pointers - 1, -1)

    def vectors(self, space: CodeSpace) -> Sequence[int]:
        """What stands in vector tables."""
        return list(vectors(space))

    def literals(self, space: CodeSpace, starts: Flags) -> Indices:
        """What LDR, LDRD and VLDR address by PC."""
        return literal_halfwords(space, starts)

    def pointers(self, space: CodeSpace, starts: Flags) -> Indices:
        """Functions in literals, and in tables that literals point to."""
        return pointed_functions(space, starts)

    def table_calls(self, space: CodeSpace, callees: Indices) -> Flags:
        """Compilers' helpers for switches on cores without TBB."""
        return calls_by_table(space, callees)

    def computed_targets(self, space: CodeSpace, starts: Flags, indices: Indices) -> Sequence[int]:
        """The cases of switches, and what veneers lead to."""
        through_register = (space.halfwords[indices] & 0xFF00) == 0x4700
        reader = TableReader(space, starts)
        by_table = indices[~through_register].tolist()
        found = [target for index in by_table for target in reader.targets(index)]
        return found + loaded_targets(space, starts, indices[through_register])

    def direct(self, space: CodeSpace, starts: Flags) -> Direct:
        """No register is known beforehand, and 0 is no register."""
        nowhere = np.zeros(0, dtype=np.intp)
        return Direct(nowhere, nowhere.astype(np.uint32), nowhere.astype(np.bool_))

    def constants(self, space: CodeSpace, starts: Flags) -> Constants:
        """Literal loads, MOVW with MOVT, modified immediates, shifted numbers."""
        return constants(space, starts)

    def effects(
        self, first: Halfwords, second: Halfwords, addresses: npt.NDArray[np.int64]
    ) -> Effects:
        """Loads, stores, sums and moves; what else is written."""
        return effects(first, second, addresses)

    def flows(self, first: Halfwords, second: Halfwords) -> Flows:
        """Branches, writes to PC, IT and UDF; anything else goes on."""
        narrow = self._narrow
        kind, distance = narrow.kind[first], narrow.distance[first]
        rows = np.flatnonzero(first >= _WIDE)
        kind[rows], distance[rows] = _wide_flows(
            first[rows].astype(np.int32), second[rows].astype(np.int32)
        )
        return Flows(kind, narrow.length[first], distance, narrow.conditional[first])


def _narrow_flows(first: npt.NDArray[np.int32]) -> Flows:
    """For every first halfword what it means as an instruction of its own, and its length."""
    kind = np.zeros(len(first), dtype=np.uint8)
    distance = np.zeros(len(first), dtype=np.int32)
    conditional = np.zeros(len(first), dtype=np.uint8)
    compare = (first & 0xF500) == 0xB100  # CBZ, CBNZ
    kind[compare] = Flow.BRANCH
    distance[compare] = 2 + ((first >> 9 & 1) << 5 | first >> 3 & 0x1F)[compare]
    branch = ((first & 0xF000) == 0xD000) & (first < 0xDE00)
    kind[branch] = Flow.BRANCH
    distance[branch] = 2 + _signed(first & 0xFF, 8)[branch]
    jump = (first & 0xF800) == 0xE000
    kind[jump] = Flow.JUMP
    distance[jump] = 2 + _signed(first & 0x7FF, 11)[jump]
    kind[(first & 0xFF00) == 0xDE00] = Flow.STOP  # UDF
    kind[(first & 0xFF00) == 0xBD00] = Flow.RETURN  # POP {.., PC}
    kind[((first & 0xFF87) == 0x4487) | ((first & 0xFF87) == 0x4687)] = Flow.COMPUTED
    kind[(first & 0xFF80) == 0x4700] = Flow.COMPUTED
    kind[(first & 0xFF80) == 0x4780] = Flow.COMPUTED_CALL
    for returns in (0x4700 | _LINK << 3, 0x4687 | _LINK << 3):  # BX LR, MOV PC, LR
        kind[returns] = Flow.RETURN
    # IT: the mask's lowest set bit ends the block of one to four; IT AL skips nothing.
    if_then = ((first & 0xFF00) == 0xBF00) & ((first & 0xF) != 0) & ((first >> 4 & 0xF) != 14)
    for zeros in range(4):
        conditional[if_then & ((first & (2 << zeros) - 1) == 1 << zeros)] = 4 - zeros
    length = np.where(first >= _WIDE, 2, 1).astype(np.uint8)
    return Flows(kind, length, distance, conditional)


def _may_branch(first: npt.NDArray[np.int32]) -> Flags:
    """First halfwords that may begin a wide instruction which `_wide_flows` has to look at."""
    special: Flags = np.zeros(len(first), dtype=np.bool_)
    for mask, match in (
        (0xF800, 0xF000),  # B.W, BL
        (0xFFD0, 0xE890),  # LDM
        (0xFFD0, 0xE910),  # LDMDB
        (0xFF70, 0xF850),  # LDR
        (0xFFF0, 0xE8D0),  # TBB, TBH
    ):
        special |= (first & mask) == match
    return special


def _wide_flows(
    first: npt.NDArray[np.int32], second: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    kind = np.zeros(len(first), dtype=np.uint8)
    distance = np.zeros(len(first), dtype=np.int32)
    loads_pc = ((first & 0xFF70) == 0xF850) & (second >> 12 == _PC)
    kind[loads_pc] = Flow.COMPUTED
    kind[loads_pc & (first == 0xF85D)] = Flow.RETURN  # LDR PC, [SP], #4: a POP of one register
    pops = ((first & 0xFFD0) == 0xE890) | ((first & 0xFFD0) == 0xE910)
    kind[pops & ((second & 0x8000) != 0)] = Flow.RETURN
    kind[((first & 0xFFF0) == 0xE8D0) & ((second & 0xFFE0) == 0xF000)] = Flow.COMPUTED
    rows = np.flatnonzero(((first & 0xF800) == 0xF000) & ((second & 0x8000) != 0))
    kind[rows], distance[rows] = _branches(first[rows], second[rows])
    return kind, distance


def _branches(
    first: npt.NDArray[np.int32], second: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """B<c>.W, B.W, BL, BLX, UDF.W, and what shares their space."""
    form = second & 0x5000
    sign = first >> 10 & 1
    j1, j2 = second >> 13 & 1, second >> 11 & 1
    low = second & 0x7FF
    near = _signed(sign << 19 | j2 << 18 | j1 << 17 | (first & 0x3F) << 11 | low, 20)
    i1, i2 = 1 ^ sign ^ j1, 1 ^ sign ^ j2
    far = _signed(sign << 23 | i1 << 22 | i2 << 21 | (first & 0x3FF) << 11 | low, 24)
    is_near = (form == 0) & ((first >> 7 & 7) != 7)
    undefined = (form == 0) & ((first & 0xFFF0) == 0xF7F0) & ((second & 0xF000) == 0xA000)
    kind = np.zeros(len(first), dtype=np.uint8)
    kind[is_near] = Flow.BRANCH
    kind[undefined] = Flow.STOP
    kind[form == 0x1000] = Flow.JUMP
    kind[form == 0x5000] = Flow.CALL
    kind[form == 0x4000] = Flow.STOP  # BLX to Arm code faults on every M-profile core
    distance = 2 + np.where(is_near, near, far)
    return kind, np.where((kind == Flow.STOP) | (kind == Flow.NEXT), 0, distance).astype(np.int32)


def _signed(value: npt.NDArray[np.int32], bits: int) -> npt.NDArray[np.int32]:
    return value - ((value >> (bits - 1)) << bits)
