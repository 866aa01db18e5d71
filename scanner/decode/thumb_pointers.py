"""Functions of Thumb code whose addresses are literals, or made by MOVW and MOVT.

Veneers, callbacks, tables of functions.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.instruction_set import Flags, Indices
from scanner.decode.literals import halves, literal_loads, literals_of
from scanner.decode.marks import Marks
from scanner.decode.select import has_form, previous, select
from scanner.decode.thumb_constants import TOP, pairs

_CLOSE = 4
"""So many instructions in front of a jump the load of its register is looked for."""

_WIDE: Flags = np.arange(0x10000) >= 0xE800
_MAX_POINTERS = 64


def loaded_targets(space: CodeSpace, starts: Marks, jumps: Indices) -> list[int]:
    """Where BX and BLX lead whose register was set to a constant right before."""
    register = space.halfwords[jumps].astype(np.int32) >> 3 & 0xF
    at, rows = jumps, np.arange(len(jumps))
    found: list[int] = []
    for _ in range(_CLOSE):
        at = previous(space, _WIDE, starts, at)
        rows, at = rows[at >= 0], at[at >= 0]
        first, second = halves(space, at)
        narrow = (first & 0xFF00) == (0x4800 | register[rows] << 8)
        wide = ((first & 0xFF7F) == 0xF85F) & (second >> 12 == register[rows])
        top = has_form(space.halfwords[at], (TOP,)) & (second >> 8 & 0xF == register[rows])
        _, places = literals_of(space, at[narrow | wide])
        low, high = halves(space, places)
        loaded = low | high << np.uint32(16)
        words = np.concatenate([loaded, pairs(space, starts, at[top]).values])
        pointers = words[words % 2 == 1].astype(np.int64)
        targets = space.indices(pointers - 1)
        found += targets[targets >= 0].tolist()
        set_here = narrow | wide | top
        rows, at = rows[~set_here], at[~set_here]
    return found


def pointed_functions(space: CodeSpace, starts: Marks) -> Indices:
    """Functions whose address is such a constant, or stands in a table whose address is one."""
    _, places = literal_loads(space, starts)
    low, high = halves(space, places)
    made = pairs(space, starts, select(space, starts, (TOP,))).values
    words = np.unique(np.concatenate([low | high << np.uint32(16), made]))
    return np.array(
        [*_functions(space, words), *_tabled(space, words[words % 4 == 0])], dtype=np.intp
    )


def _functions(space: CodeSpace, words: npt.NDArray[np.uint32]) -> list[int]:
    """Indices of what odd words point to, where it looks like the beginning of a function."""
    indices = space.indices(words[words % 2 == 1].astype(np.int64) - 1)
    indices = indices[indices > 0]
    first, second = halves(space, indices)
    before = space.halfwords[indices - 1]
    saves = ((first & 0xFF00) == 0xB500) | ((first == 0xE92D) & ((second & 0x4000) != 0))
    follows = (before == 0x4770) | (before == 0xBF00) | ((before & 0xFF00) == 0xBD00)
    found: list[int] = indices[saves | follows].tolist()
    return found


def _tabled(space: CodeSpace, words: npt.NDArray[np.uint32]) -> list[int]:
    found: list[int] = []
    indices = space.indices(words.astype(np.int64))
    for index in indices[indices >= 0].tolist():
        data = space.code(index, 2 * _MAX_POINTERS)
        row = np.frombuffer(data[: len(data) // 4 * 4], dtype="<u4")
        found += _functions(space, row)
    return found
