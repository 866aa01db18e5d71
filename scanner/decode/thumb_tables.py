"""Computed jumps of Thumb code by the tables of switches.

A jump's base and bound are looked for in the few instructions before it. Where no comparison bounds
the index, nothing is said: half a table is better than one that reaches into other code.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.instruction_set import Flags
from scanner.decode.marks import Marks
from scanner.decode.thumb_effects import EXPANDED

_NEAR = 16
_MAX_CASES = 1024
_PC, _LINK = 15, 14
_HIGHER, _NOT_LOWER, _LOWER, _NOT_HIGHER = 8, 2, 3, 9
_HELPER_HALFWORDS = 14
_LOADS = {3: "i1", 4: "<i4", 5: "<u2", 6: "u1", 7: "<i2"}
"""Types of what is loaded by LDRSB, LDR, LDRH, LDRB and LDRSH, by their bits 11 to 9."""

_SIZES = {kind: np.dtype(kind).itemsize for kind in _LOADS.values()}


class TableReader:
    """Reads the tables that the code before a computed jump speaks of."""

    def __init__(self, space: CodeSpace, starts: Marks) -> None:
        self._space, self._starts = space, starts
        self._words, self._one = space.halfwords, space.halfwords.data

    def targets(self, jumps: Iterable[int]) -> list[int]:
        """Indices that the jumps and calls may lead to; a table ends where one lies outside."""
        return self._space.tabled([self._addresses(index) for index in jumps])

    def _addresses(self, index: int) -> Sequence[int]:
        first, second = self._one[index], self._one[index + 1]
        pc = self._space.address(index) + 4
        if first == 0xE8DF:  # TBB, TBH [PC, Rm]
            kind = "<u2" if second & 0x10 else "u1"
            return self._offsets(pc, pc, kind, self._cases(index))
        if first & 0xF800 == 0xF000:
            return self._behind_call(index, pc)
        if first in (0xF85F, 0xF8DF):  # LDR PC, [PC, #imm]
            offset = second & 0xFFF if first & 0x80 else -(second & 0xFFF)
            word = self._space.word((pc & ~3) + offset)
            return () if word is None else (word & ~1,)
        if first & 0xFFF0 == 0xF850 and second & 0xFFF0 == 0xF020:  # LDR PC, [Rn, Rm, LSL #2]
            return self._pointers(self._pointer(first & 0xF, index), self._cases(index))
        if first & 0xFF87 == 0x4687:  # MOV PC, Rm
            return self._loaded(first >> 3 & 0xF, index)
        if first & 0xFF87 == 0x4487:  # ADD PC, Rm
            return self._added(first >> 3 & 0xF, index, pc)
        return ()

    def _pointers(self, base: int | None, cases: int) -> Sequence[int]:
        words = [] if base is None else self._space.words(base, cases)
        return [word & ~1 for word in words]

    def _offsets(self, table: int, origin: int, kind: str, cases: int) -> Sequence[int]:
        """Entries count halfwords from the origin, those of four bytes bytes."""
        size = _SIZES[kind]
        index = self._space.index(table)
        data = b"" if index is None else self._space.code(index, (size * cases + 1) // 2)
        entries = np.frombuffer(data, dtype=kind, count=min(cases, len(data) // size)).tolist()
        scale = 1 if size == 4 else 2
        return [origin + scale * entry for entry in entries]

    def _behind_call(self, index: int, behind: int) -> Sequence[int]:
        """A table that a helper reads by its return address."""
        first, second = self._one[index], self._one[index + 1]
        sign, low = first >> 10 & 1, second & 0x7FF
        high = (1 ^ sign ^ (second >> 13 & 1)) << 22 | (1 ^ sign ^ (second >> 11 & 1)) << 21
        distance = (high | (first & 0x3FF) << 11 | low) - (sign << 23)
        callee = self._space.index(behind + 2 * distance)
        kind = None if callee is None else _helper(self._space, callee)
        if kind is None:
            return ()
        table = behind + 2 & ~3 if kind == "<i4" else behind
        return self._offsets(table, table, kind, self._cases(index))

    def _loaded(self, register: int, index: int) -> Sequence[int]:
        """MOV PC, Rm with an address that was loaded from a table, or made right before."""
        writer = self._writer(register, index)
        first = 0 if writer is None else self._one[writer]
        if first & 0xF800 in (0x4800, 0xA000) or first & 0xFBFF in (0xF20F, 0xF2AF):
            known = self._pointer(register, index)
            return () if known is None else (known & ~1,)
        base = None
        if writer is not None and first & 0xFE00 == 0x5800:  # LDR Rt, [Rn, Rm]
            base = self._pointer(first >> 3 & 7, writer)
            base = self._pointer(first >> 6 & 7, writer) if base is None else base
        elif writer is not None and first & 0xF800 == 0x6800:  # LDR Rt, [Rn, #imm]
            base = self._pointer(first >> 3 & 7, writer)
            base = None if base is None else base + (first >> 6 & 0x1F) * 4
        return self._pointers(base, self._cases(index))

    def _added(self, register: int, index: int, pc: int) -> Sequence[int]:
        """ADD PC, Rm: a row of branches behind it, or a table of distances."""
        cases = self._cases(index)
        at = index + 1
        while cases and self._words[at] in (0xBF00, 0x46C0):
            at += 1
        row = self._words[at : at + cases].tolist()
        if row and row[0] & 0xF800 == 0xE000:
            first = self._space.address(at)
            return [first + 2 * n for n, word in enumerate(row) if word & 0xF800 == 0xE000]
        shift = self._writer(register, index)
        if shift is None or self._one[shift] & 0xFFC0 != 0x0040:  # LSLS Rd, Rm, #1
            return ()
        load = self._writer(self._one[shift] >> 3 & 7, shift)
        form = 0 if load is None else self._one[load]
        for match, kind in ((0x7900, "u1"), (0x8880, "<u2")):  # LDRB, LDRH Rt, [Rn, #4]
            if form & 0xFFC0 == match:
                return self._offsets(pc - 2, pc, kind, cases)
        return ()

    def _cases(self, index: int) -> int:
        """How many values the index may have, by the comparison before the jump; 0 if unknown."""
        condition = None
        for before in self._before(index):
            first, second = self._one[before], self._one[before + 1]
            if first & 0xF000 == 0xD000:
                condition = first >> 8 & 0xF
            elif first & 0xF800 == 0xF000 and second & 0xD000 == 0x8000:
                condition = first >> 6 & 0xF
            limit = None
            if first & 0xF800 == 0x2800:  # CMP Rn, #imm
                limit = first & 0xFF
            elif first & 0xFBF0 == 0xF1B0 and second & 0x8F00 == 0x0F00:
                limit = int(EXPANDED[(first & 0x400) << 1 | second >> 4 & 0x700 | second & 0xFF])
            elif first & 0xFFC0 == 0x4280:  # CMP Rn, Rm behind MOVW Rm, #imm
                limit = self._moved(first >> 3 & 7, before)
            if limit is not None:
                more = {_HIGHER: 1, _NOT_HIGHER: 1, _NOT_LOWER: 0, _LOWER: 0}
                return min(limit + more[condition], _MAX_CASES) if condition in more else 0
        return 0

    def _moved(self, register: int, index: int) -> int | None:
        """The number that MOVW put into a register before the instruction."""
        writer = self._writer(register, index)
        if writer is None or self._one[writer] & 0xFBF0 != 0xF240:
            return None
        first, second = self._one[writer], self._one[writer + 1]
        low = second >> 4 & 0x700 | second & 0xFF
        return (first & 0xF) << 12 | (first & 0x400) << 1 | low

    def _pointer(self, register: int, index: int) -> int | None:
        """The address that a register holds before the instruction, an index left out."""
        for _ in range(_NEAR):
            writer = self._writer(register, index)
            if writer is None:
                return None
            first, second = self._one[writer], self._one[writer + 1]
            pc = self._space.address(writer) + 4 & ~3
            if first & 0xF800 == 0xA000:  # ADR
                return pc + (first & 0xFF) * 4
            if first & 0xFBFF in (0xF20F, 0xF2AF) and not second & 0x8000:  # ADR.W
                offset = (first >> 10 & 1) << 11 | (second >> 12 & 7) << 8 | second & 0xFF
                return pc - offset if first & 0x80 else pc + offset
            if first & 0xF800 == 0x4800:  # LDR Rt, [PC, #imm]
                return self._space.word(pc + (first & 0xFF) * 4)
            if first in (0xF85F, 0xF8DF):
                return self._space.word(
                    pc + (second & 0xFFF if first & 0x80 else -(second & 0xFFF))
                )
            if first & 0xFF00 == 0x4600:  # MOV Rd, Rm
                register, index = first >> 3 & 0xF, writer
            elif first & 0xFE00 == 0x1800:  # ADDS Rd, Rn, Rm: one is the index
                base = self._pointer(first >> 3 & 7, writer)
                return self._pointer(first >> 6 & 7, writer) if base is None else base
            else:
                return None
        return None

    def _writer(self, register: int, index: int) -> int | None:
        """The last instruction before the index that changes the register."""
        for before in self._before(index):
            first, second = self._one[before], self._one[before + 1]
            if _destination(first, second) == register:
                return before
        return None

    def _before(self, index: int) -> Iterator[int]:
        """Instructions before the index, the nearest first, up to where control can't come from."""
        words, is_start = self._one, self._starts.has
        for _ in range(_NEAR):
            if index and words[index - 1] < 0xE800 and is_start(index - 1):
                index -= 1
            elif index > 1 and words[index - 2] >= 0xE800 and is_start(index - 2):
                index -= 2
            else:
                return
            first = words[index]
            stepped_over = index and words[index - 1] & 0xF0FF == 0xD000
            if first & 0xF800 == 0xE000 and not stepped_over:
                return
            if first & 0xFF80 == 0x4700 or first & 0xFF00 == 0xBD00:
                return
            yield index


def _destination(first: int, second: int) -> int | None:
    """The register that an instruction changes, as far as code before jump tables needs it."""
    if first >= 0xE800:
        if first & 0xFE00 == 0xF800:
            return second >> 12 if first & 0x10 else None
        return second >> 8 & 0xF if first & 0xF800 != 0xF000 or not second & 0x8000 else None
    if first < 0x2000 or 0x4000 <= first < 0x4400:
        return first & 7
    if first < 0x4000 or 0x4800 <= first < 0x5000 or 0xA000 <= first < 0xB000:
        return None if first & 0xF800 == 0x2800 else first >> 8 & 7
    if first & 0xFD00 == 0x4400:
        return first & 7 | first >> 4 & 8
    if 0x5600 <= first < 0x6000 or (0x6000 <= first < 0x9000 and first & 0x0800):
        return first & 7
    return first >> 8 & 7 if first & 0xF800 == 0x9800 else None


def calls_by_table(space: CodeSpace, callees: npt.NDArray[np.int32]) -> Flags:
    """Functions that change their return address by what they read there."""
    found = np.zeros(len(callees), dtype=np.bool_)
    second = np.take(space.halfwords, callees + 1, mode="clip")
    copies = np.flatnonzero(second == 0x4671)  # MOV R1, LR behind a PUSH
    helpers = [start for start in set(callees[copies].tolist()) if _helper(space, start)]
    found[copies] = np.isin(callees[copies], helpers)
    return found


def _helper(space: CodeSpace, start: int) -> str | None:
    """Type of the entries that a helper reads behind its call, or None if it is no such helper.

    Such a function copies LR, loads by it, and ends after it has changed LR.
    """
    kind = None
    copied = changed = False
    for word in space.halfwords[start : start + _HELPER_HALFWORDS].tolist():
        copied = copied or word == 0x4671
        if 0x5000 <= word < 0x6000:
            kind = _LOADS.get(word >> 9 & 7)
        changed = changed or word & 0xFF87 in (0x4486, 0x4686)  # ADD LR, Rm; MOV LR, Rm
        if word in (0x4770, 0x46F7):
            return kind if copied and changed else None
    return None
