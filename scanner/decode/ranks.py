"""How many of the marks lie before an index: a table of one number for every eight marks."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scanner.decode.instruction_set import Flags, Indices

_ONES = np.array([bin(byte).count("1") for byte in range(256)], dtype=np.uint8)
_BELOW = np.array([(1 << bit) - 1 for bit in range(8)], dtype=np.uint8)


class Ranks:
    """Ranks of indices among marks, without a number for every index."""

    def __init__(self, marks: Flags) -> None:
        self._bits = np.append(np.packbits(marks, bitorder="little"), np.uint8(0))
        counts = np.cumsum(_ONES[self._bits], dtype=np.int32)
        self._before = np.concatenate([np.zeros(1, dtype=np.int32), counts[:-1]])

    def of(self, indices: Indices | npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
        """The number of marks before each index."""
        rows = indices >> 3
        inside = self._bits[rows] & _BELOW[indices & 7]
        found: npt.NDArray[np.int32] = self._before[rows] + _ONES[inside]
        return found
