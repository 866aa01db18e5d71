"""Finding instructions by the form of their first halfword, in one pass, and by their place."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from scanner.decode.code_space import CodeSpace
from scanner.decode.instruction_set import Flags, Indices
from scanner.decode.marks import CHUNK, Marks

_FIRST = np.arange(0x10000, dtype=np.int32)


def select(space: CodeSpace, starts: Marks, forms: Iterable[tuple[int, int]]) -> Indices:
    """Marked places whose halfword equals `match` under `mask`, for one of the (mask, match)."""
    table = np.zeros(0x10000, dtype=np.bool_)
    for mask, match in forms:
        table |= (_FIRST & mask) == match
    found = [np.zeros(0, dtype=np.intp)]
    for begin in range(0, len(space), CHUNK):
        marks = np.take(table, space.halfwords[begin : begin + CHUNK], mode="clip")
        marks &= starts.part(begin, begin + CHUNK)
        found.append(np.flatnonzero(marks) + begin)
    return np.concatenate(found)


def previous(space: CodeSpace, wide: Flags, starts: Marks, at: Indices) -> Indices:
    """The marked instruction right before each; -1 where there is none."""
    one, two = np.maximum(at - 1, 0), np.maximum(at - 2, 0)
    is_narrow = (at > 0) & starts[one] & ~wide[space.halfwords[one]]
    is_wide = (at > 1) & starts[two] & wide[space.halfwords[two]]
    return np.where(is_narrow, one, np.where(is_wide, two, -1))
