"""How many marks lie before an index: one small table instead of a number for every index."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from scanner.decode.marks import Marks

_WORD = 64


class Ranks:
    """Ranks of indices among marks."""

    def __init__(self, marks: Marks) -> None:
        # One word more, so that the place behind the last mark has a rank, too.
        size = len(marks) // _WORD + 1
        bits = np.zeros(8 * size, dtype=np.uint8)
        bits[: len(marks.bits)] = marks.bits
        self._words = bits.view("<u8")
        self._before = np.zeros(size, dtype=np.int32)
        np.cumsum(np.bitwise_count(self._words[:-1]), out=self._before[1:])
        self._one = self._words.data, self._before.data

    def of(self, indices: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int32]:
        """The number of marks before each index."""
        # take() with a mode and shifts instead of masks are what makes this quick.
        rows = (indices >> 6).astype(np.intp)
        below = self._words.take(rows, mode="clip")
        below <<= np.uint64(_WORD - 1) - (indices & 63).astype(np.uint64)
        below <<= np.uint64(1)
        found: npt.NDArray[np.int32] = self._before.take(rows, mode="clip")
        found += np.bitwise_count(below)
        return found

    def of_one(self, index: int) -> int:
        """The number of marks before one index."""
        words, before = self._one
        below: int = words[index >> 6] & (1 << (index & 63)) - 1
        return before[index >> 6] + below.bit_count()
