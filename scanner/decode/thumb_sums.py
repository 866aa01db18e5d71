"""Constants that Thumb code makes byte by byte: shifts a number up, adds the next byte, and so on.

So do compilers for ARMv6-M where code may be executed but not read, and has no literals.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.effects import Constants, Effects
from scanner.decode.instruction_set import Flags, Indices
from scanner.decode.literals import halves
from scanner.decode.marks import Marks
from scanner.decode.select import previous
from scanner.decode.thumb_effects import effects

Values = npt.NDArray[np.uint32]

_STEPS, _CLOSE = 24, 12
"""A sum is made in so many instructions; a byte is added so many before or behind a shift."""

_MOVE, _ADD, _SUBTRACT, _SHIFT, _PUSH = 0x2000, 0x3000, 0x3800, 0x0000, 0xB400
_FORM = np.uint32(0xF800)
_MOST = np.uint64(32)
_WIDE: Flags = np.arange(0x10000) >= 0xE800


def behind_sums(space: CodeSpace, shifts: Indices) -> Indices:
    """Shifts of a register in itself with ADDS Rd, #imm shortly before; no others need a walk."""
    first = space.halfwords.take(shifts, mode="clip")
    shifts = shifts[(first >> 3 & 7) == (first & 7)]
    added = _ADD | (space.halfwords.take(shifts, mode="clip") & 7) << np.uint16(8)
    found = np.zeros(len(shifts), dtype=np.bool_)
    for distance in range(1, _CLOSE + 1):
        before = space.halfwords.take(shifts - distance, mode="clip")
        found |= (before & 0xFF00) == added
    return shifts[found]


def summed(space: CodeSpace, starts: Marks, shifts: Indices) -> Constants:
    """What is complete with the last of some shifts, or with the byte that is added behind it."""
    places, values = _followed_back(space, starts, shifts)
    places, values = _with_last_byte(space, starts, places, values)
    return Constants(places, values, np.ones(len(places), dtype=np.bool_))


def _followed_back(space: CodeSpace, starts: Marks, shifts: Indices) -> tuple[Indices, Values]:
    """Shifts before which all is known, and their results."""
    first, _ = halves(space, shifts)
    at, rows, has_sum = shifts, np.arange(len(shifts)), np.zeros(len(shifts), dtype=np.bool_)
    register = first & np.uint32(7)
    up = (first >> 6 & 0x1F).astype(np.uint64)
    total = np.zeros(len(shifts), dtype=np.uint64)
    found, values = [rows[:0]], [total[:0]]
    for _ in range(_STEPS):
        if not len(rows):
            break
        at = previous(space, _WIDE, starts, at)
        first, changed, _ = _uses(space, np.maximum(at, 0), register)
        form, own = first & _FORM, (first >> 8 & 7) == register
        byte = (first & 0xFF).astype(np.uint64) << up
        is_move = (form == _MOVE) & own & (at >= 0)
        is_add, is_less = (form == _ADD) & own, (form == _SUBTRACT) & own
        is_shift = (form == _SHIFT) & ((first & 7) == register)
        total += np.where(is_move | is_add, byte, np.uint64(0))
        total -= np.where(is_less, byte, np.uint64(0))
        found.append(rows[is_move & has_sum])
        values.append(total[is_move & has_sum])
        has_sum |= is_add | is_less
        up += np.where(is_shift, first >> 6 & 0x1F, 0).astype(np.uint64)
        register = np.where(is_shift, first >> np.uint32(3) & np.uint32(7), register)
        goes_on = is_shift | is_add | is_less | ~changed
        kept = np.flatnonzero((at >= 0) & goes_on & ~is_move)
        at, rows, register, has_sum = at[kept], rows[kept], register[kept], has_sum[kept]
        up, total = np.minimum(up[kept], _MOST), total[kept]
    return shifts[np.concatenate(found)], (np.concatenate(values) & 0xFFFFFFFF).astype(np.uint32)


def _with_last_byte(
    space: CodeSpace, starts: Marks, shifts: Indices, values: Values
) -> tuple[Indices, Values]:
    """The same behind ADDS Rd, #imm, if nothing uses the register before and control goes there."""
    places, values = shifts.copy(), values.copy()
    first, _ = halves(space, shifts)
    at, rows, register = shifts + 1, np.arange(len(shifts)), first & np.uint32(7)
    for _ in range(_CLOSE):
        if not len(rows):
            break
        first, changed, used = _uses(space, at, register)
        adds = (first & 0xFF00) == (_ADD | register << np.uint32(8))
        adds &= starts[at]
        places[rows[adds]] = at[adds]
        values[rows[adds]] += first[adds] & 0xFF
        goes_on = (first < 0xB000) & ((first >> 8) != 0x47) | ((first & 0xFE00) == _PUSH)
        kept = np.flatnonzero(starts[at] & ~(changed | used) & goes_on)
        at, rows, register = at[kept] + 1, rows[kept], register[kept]
    return places, values


def _uses(space: CodeSpace, at: Indices, register: Values) -> tuple[Values, Flags, Flags]:
    """Instructions, and whether they change the register, or compute or go to memory by it."""
    first, second = halves(space, at)
    done: Effects = effects(first.astype(np.uint16), second.astype(np.uint16), np.zeros_like(at))
    used = (done.base == register) | (done.index == register)
    changed = (done.target == register) | ((done.base == register) & (done.update != 0))
    changed |= (done.written >> register & 1) != 0
    return first, changed, used
