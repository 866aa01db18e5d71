"""How many of the marks lie before an index: a table of one number for every eight marks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scanner.decode.instruction_set import Indices

_ONES = np.array([bin(byte).count("1") for byte in range(256)], dtype=np.uint8)
_BELOW = np.array([(1 << bit) - 1 for bit in range(8)], dtype=np.uint8)


class Ranks:
    """Ranks of indices among marks, without a number for every index."""

    def __init__(self, bits: npt.NDArray[np.uint8]) -> None:
        """`bits` are the marks, eight in a byte, the first one lowest."""
        self._bits = np.append(bits, np.uint8(0))
        self._before = np.zeros(len(bits) + 1, dtype=np.int32)
        np.cumsum(_ONES[bits], dtype=np.int32, out=self._before[1:])

    def of(self, indices: Indices | npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """The number of marks before each index."""
        rows = indices >> 3
        inside = self._bits[rows] & _BELOW[indices & 7]
        found: npt.NDArray[np.int32] = self._before[rows] + _ONES[inside]
        return found

    def of_one(self, index: int) -> int:
        """The number of marks before one index."""
        row = index >> 3
        inside = self._bits[row] & _BELOW[index & 7]
        return int(self._before[row]) + int(_ONES[inside])
