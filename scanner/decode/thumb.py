"""Thumb and Thumb-2 as the M-profile runs them (ARMv7-M ARM, chapter A5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from scanner.decode import thumb_frames
from scanner.decode.code_space import CodeSpace
from scanner.decode.effects import Constants, Direct, Effects
from scanner.decode.instruction_set import Flags, Flow, Flows, Halfwords, Indices
from scanner.decode.literals import addressed_halfwords, literal_halfwords
from scanner.decode.marks import Marks
from scanner.decode.thumb_constants import constants
from scanner.decode.thumb_effects import effects
from scanner.decode.thumb_pointers import loaded_targets, pointed_functions
from scanner.decode.thumb_tables import TableReader, calls_by_table
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
    register_jumps = tuple(
        (0xFFF8, call | register << 3)
        for call in (0x4700, 0x4780)
        for register in range(_PC)
        if register != _LINK
    )
    link_reads: tuple[tuple[int, int], ...] = (
        (0xFF00, 0xB500),
        (0xFF78, 0x4670),
        (0xFF78, 0x4770),
        (0xFFFF, 0xE92D),
        (0xFFFF, 0xF84D),
    )
    padding: tuple[int, ...] = (0x0000, 0xBF00, 0x46C0)
    wide_padding = 0xF3AF, 0x8000
    arguments = 0x000F
    clobbered = 0x500F

    def __init__(self) -> None:
        first = np.arange(0x10000, dtype=np.int32)
        self.wide: Flags = first >= _WIDE
        self._narrow = _narrow_flows(first)
        self._forms = _wide_forms(first)
        self.ordinary: Flags = (self._narrow.kind == Flow.NEXT) & (self._narrow.conditional == 0)
        self.ordinary &= self._forms == _Form.OTHER

    def join(
        self, first: npt.NDArray[np.uint32], second: npt.NDArray[np.uint32]
    ) -> npt.NDArray[np.uint32]:
        """First halfword on top, as the manual prints 32-bit encodings."""
        joined: npt.NDArray[np.uint32] = first << np.uint32(16) | second
        return joined

    def code_addresses(self, pointers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Bit 0 of a code pointer says Thumb; without it a branch faults."""
        return np.where(pointers & 1, pointers - 1, -1)

    def vectors(self, space: CodeSpace) -> Sequence[int]:
        """What stands in vector tables."""
        return list(vectors(space))

    def frames(self, space: CodeSpace) -> tuple[Indices, Indices]:
        """What pushes LR, up to where it pops the same registers."""
        return thumb_frames.frames(space)

    def literals(self, space: CodeSpace, starts: Marks) -> Indices:
        """What LDR, LDRD and VLDR address by PC."""
        return literal_halfwords(space, starts)

    def tables(self, space: CodeSpace, starts: Marks) -> Indices:
        """What ADR addresses, but for the odd addresses of code."""
        return addressed_halfwords(space, starts)

    def pointers(self, space: CodeSpace, starts: Marks) -> Indices:
        """Functions in literals, and in tables that literals point to."""
        return pointed_functions(space, starts)

    def table_calls(self, space: CodeSpace, callees: npt.NDArray[np.int32]) -> Flags:
        """Compilers' helpers for switches on cores without TBB."""
        return calls_by_table(space, callees)

    def computed_targets(self, space: CodeSpace, starts: Marks, indices: Indices) -> Sequence[int]:
        """The cases of switches, and what veneers lead to."""
        through_register = (space.halfwords[indices] & 0xFF00) == 0x4700
        found = TableReader(space, starts).targets(indices[~through_register].tolist())
        if through_register.any():
            found += loaded_targets(space, starts, indices[through_register])
        return found

    def constants(self, space: CodeSpace, starts: Marks) -> tuple[Constants, Direct]:
        """Literal loads, MOVW with MOVT, modified immediates, shifted numbers."""
        return constants(space, starts), Direct.none()

    def effects(
        self, first: Halfwords, second: Halfwords, addresses: npt.NDArray[np.int64]
    ) -> Effects:
        """Loads, stores, sums and moves; what else is written."""
        return effects(first, second, addresses)

    def flows(self, first: Halfwords, second: Halfwords) -> Flows:
        """Branches, writes to PC, IT and UDF; anything else goes on."""
        narrow, at = self._narrow, first.astype(np.intp)
        kind, distance = narrow.kind.take(at, mode="clip"), narrow.distance.take(at, mode="clip")
        conditional = narrow.conditional.take(at, mode="clip")
        rows = np.flatnonzero(first >= _WIDE)
        at, second = at.take(rows), second.take(rows)
        kind[rows] = wide_kinds = _kinds(self._forms.take(at, mode="clip"), second)
        direct = np.flatnonzero((wide_kinds >= Flow.JUMP) & (wide_kinds <= Flow.CALL))
        distance[rows.take(direct)] = _distances(
            at.take(direct), second.take(direct).astype(np.int32)
        )
        return Flows(kind, distance, conditional)


class _Form:
    """What the first halfword of a wide instruction says of how control may go on."""

    OTHER = 0
    BRANCH = 1  # B<c>.W, B.W, BL, BLX
    NOT_NEAR = 2  # the same without B<c>.W
    UNDEFINED = 3  # the same with UDF.W instead
    MULTIPLE = 4  # LDM, LDMDB: a return if it loads PC
    LOAD = 5  # LDR: a computed jump if it loads PC
    POP = 6  # LDR from the stack: a POP of one register
    TABLE = 7  # TBB, TBH


def _narrow_flows(first: npt.NDArray[np.int32]) -> Flows:
    """For every first halfword what it means as an instruction of its own."""
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
    return Flows(kind, distance, conditional)


def _wide_forms(first: npt.NDArray[np.int32]) -> npt.NDArray[np.uint8]:
    """The form of every first halfword."""
    forms = np.zeros(len(first), dtype=np.uint8)
    branches = (first & 0xF800) == 0xF000
    forms[branches] = _Form.BRANCH
    forms[branches & ((first & 0x0380) == 0x0380)] = _Form.NOT_NEAR
    forms[(first & 0xFFF0) == 0xF7F0] = _Form.UNDEFINED
    forms[((first & 0xFFD0) == 0xE890) | ((first & 0xFFD0) == 0xE910)] = _Form.MULTIPLE
    forms[(first & 0xFF70) == 0xF850] = _Form.LOAD
    forms[first == 0xF85D] = _Form.POP
    forms[(first & 0xFFF0) == 0xE8D0] = _Form.TABLE
    return forms


def _kinds_by_form() -> npt.NDArray[np.uint8]:
    """Kinds by the form and the upper five bits of the second halfword."""
    top = np.arange(32, dtype=np.int32) << 11
    kinds = np.zeros((_Form.TABLE + 1, 32), dtype=np.uint8)
    form = np.where(top & 0x8000, top & 0x5000, -1)
    for branches in (_Form.BRANCH, _Form.NOT_NEAR, _Form.UNDEFINED):
        kinds[branches, form == 0x1000] = Flow.JUMP
        kinds[branches, form == 0x5000] = Flow.CALL
        kinds[branches, form == 0x4000] = Flow.STOP  # BLX to Arm code faults on every M-profile
    kinds[_Form.BRANCH, form == 0] = Flow.BRANCH
    kinds[_Form.UNDEFINED, (top & 0xF000) == 0xA000] = Flow.STOP
    kinds[_Form.MULTIPLE, (top & 0x8000) != 0] = Flow.RETURN
    kinds[_Form.LOAD, top >> 12 == _PC] = Flow.COMPUTED
    kinds[_Form.POP, top >> 12 == _PC] = Flow.RETURN
    kinds[_Form.TABLE, top == 0xF000] = Flow.COMPUTED
    return kinds.reshape(-1)


_KINDS = _kinds_by_form()


def _kinds(forms: npt.NDArray[np.uint8], second: Halfwords) -> npt.NDArray[np.uint8]:
    """Kinds of wide instructions."""
    rows = forms.astype(np.intp)
    rows <<= 5
    rows += second >> np.uint16(11)
    kinds = _KINDS.take(rows, mode="clip")
    tables = np.flatnonzero(forms == _Form.TABLE)
    kinds[tables[(second[tables] & 0xFFE0) != 0xF000]] = Flow.NEXT
    return kinds


def _distances(first: Indices, second: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """How far B.W and BL, or else B<c>.W, go."""
    distances = _FAR.take(first & 0x7FF, mode="clip")
    distances ^= (second & 0x2000) << 9 | (second & 0x0800) << 10 | second & 0x07FF
    rows = np.flatnonzero((second & 0x1000) == 0)
    distances[rows] = _near(first[rows].astype(np.int32), second[rows])
    distances += 2
    return distances


def _near(first: npt.NDArray[np.int32], second: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    sign, j1, j2 = first >> 10 & 1, second >> 13 & 1, second >> 11 & 1
    return _signed(sign << 19 | j2 << 18 | j1 << 17 | (first & 0x3F) << 11 | second & 0x7FF, 20)


def _signed(value: npt.NDArray[np.int32], bits: int) -> npt.NDArray[np.int32]:
    return value - ((value >> (bits - 1)) << bits)


_FIRST = np.arange(0x800, dtype=np.int32)
_FAR = np.where(_FIRST & 0x400, -1 << 23, 3 << 21).astype(np.int32) | (_FIRST & 0x3FF) << 11
"""By the first halfword of B.W and BL how far they go, but for J1, J2 and the lowest bits.

J1 and J2 are turned over where the sign is 0, so that bits 22 and 21 are for an exclusive or.
"""
