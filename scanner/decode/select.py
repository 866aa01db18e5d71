"""Finding instructions by the form of their first halfword, in one pass, and by their place."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.instruction_set import Flags, Halfwords, Indices
from scanner.decode.marks import CHUNK, Marks

Form = tuple[int, int]
"""Mask and match of a halfword."""


def select(space: CodeSpace, starts: Marks, forms: Iterable[Form]) -> Indices:
    """Marked places whose halfword equals `match` under `mask`, for one of the (mask, match)."""
    fewer = merged(set(forms))
    found = [np.zeros(0, dtype=np.intp)]
    for begin in range(0, len(space), CHUNK):
        marks = has_form(space.halfwords[begin : begin + CHUNK], fewer)
        marks &= starts.part(begin, begin + CHUNK)
        found.append(np.flatnonzero(marks) + begin)
    return np.concatenate(found)


def has_form(halfwords: Halfwords, forms: Iterable[Form]) -> Flags:
    """Whether each equals `match` under `mask`, for one of the (mask, match).

    A processor compares many numbers at a time, but looks them up in a table one by one.
    """
    found = np.zeros(len(halfwords), dtype=np.bool_)
    for mask, match in forms:
        found |= (halfwords & np.uint16(mask)) == np.uint16(match)
    return found


def merged(forms: set[Form]) -> list[Form]:
    """Fewer forms for the same halfwords: two that differ in one bit become one."""
    for (mask, match), (other, second) in combinations(sorted(forms), 2):
        differs = match ^ second
        if mask == other and differs & (differs - 1) == 0:
            rest = forms - {(mask, match), (other, second)}
            return merged(rest | {(mask & ~differs, match & ~differs)})
    return sorted(forms)


def among(values: npt.NDArray[np.integer[Any]], numbers: Iterable[int]) -> Flags:
    """Whether each is one of a few numbers; for these it is quicker than np.isin()."""
    found = np.zeros(len(values), dtype=np.bool_)
    for number in numbers:
        found |= values == number
    return found


def previous(space: CodeSpace, wide: Flags, starts: Marks, at: Indices) -> Indices:
    """The marked instruction right before each; -1 where there is none."""
    # take() with a mode is quicker than [], here and wherever much is looked up.
    halfwords = space.halfwords
    one, two = np.maximum(at - 1, 0), np.maximum(at - 2, 0)
    is_narrow = (at > 0) & starts[one] & ~wide.take(halfwords.take(one, mode="clip"), mode="clip")
    is_wide = (at > 1) & starts[two] & wide.take(halfwords.take(two, mode="clip"), mode="clip")
    return np.where(is_narrow, one, np.where(is_wide, two, -1))
