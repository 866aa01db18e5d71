"""How many marks lie before an index: two small tables instead of a number for every index."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from scanner.decode.marks import Marks

_BLOCK = 32
"""Bytes of marks; those that lie before a byte in its block are counted in a byte."""

_ONES = np.array([bin(byte).count("1") for byte in range(256)], dtype=np.uint8)
_ONES_BELOW = _ONES[np.arange(256)[:, None] & (1 << np.arange(8)) - 1].reshape(-1)
"""Marks in a byte below each of its places."""

_FEW_BELOW = _ONES_BELOW.tolist()


class Ranks:
    """Ranks of indices among marks."""

    def __init__(self, marks: Marks) -> None:
        size = len(marks.bits) // _BLOCK + 1
        bits = np.zeros((size, _BLOCK), dtype=np.uint8)
        self._bits = bits.reshape(-1)
        self._bits[: len(marks.bits)] = marks.bits
        ones = _ONES[bits]
        # A whole block may hold 256, but before its last byte lie at most 248.
        inside = np.cumsum(ones, axis=1, dtype=np.uint8)
        inside -= ones
        self._inside = inside.reshape(-1)
        self._blocks = np.zeros(size, dtype=np.int32)
        np.cumsum(inside[:-1, -1] + ones[:-1, -1].astype(np.int32), out=self._blocks[1:])
        self._one = self._bits.data, self._inside.data, self._blocks.data

    def of(self, indices: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int32]:
        """The number of marks before each index."""
        rows = indices >> 3
        found: npt.NDArray[np.int32] = self._blocks[indices >> 8]
        found += self._inside[rows]
        places = self._bits[rows].astype(np.uint16) << np.uint16(3)
        places |= (indices & 7).astype(np.uint16)
        found += _ONES_BELOW[places]
        return found

    def of_one(self, index: int) -> int:
        """The number of marks before one index."""
        bits, inside, blocks = self._one
        row = index >> 3
        below: int = _FEW_BELOW[bits[row] << 3 | index & 7]
        return blocks[index >> 8] + inside[row] + below
