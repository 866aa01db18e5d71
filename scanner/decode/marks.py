"""Marks of halfwords, eight in a byte: a program of megabytes has many, of several kinds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from scanner.decode.instruction_set import Flags, Indices

CHUNK = 1 << 16
"""So many halfwords are looked at together: what is computed from them stays in the cache."""

_BIT = (1 << np.arange(8)).astype(np.uint8)
Numbers = npt.NDArray[np.integer[Any]]


class Marks:
    """One mark for each of `length` halfwords; `bits` holds the first one lowest."""

    def __init__(self, bits: npt.NDArray[np.uint8], length: int) -> None:
        self.bits, self._length = bits, length
        self._one = bits.data  # of single marks the buffer is quicker than the array

    @classmethod
    def none(cls, length: int) -> Marks:
        """Nothing is marked."""
        return cls(np.zeros((length + 7) // 8, dtype=np.uint8), length)

    @classmethod
    def at(cls, length: int, indices: Numbers) -> Marks:
        """Marks at some places, in any order."""
        marks = cls.none(length)
        marks.add(indices)
        return marks

    @classmethod
    def within(cls, length: int, begins: Numbers, ends: Numbers) -> Marks:
        """Marks of all that lies in one of the stretches, of which no two overlap."""
        firsts, lasts = (np.zeros(length // 8 + 1, dtype=np.uint8) for _ in range(2))
        for at in range(0, len(begins), CHUNK):
            begin, end = begins[at : at + CHUNK], ends[at : at + CHUNK]
            some = end > begin
            for edges, places in ((firsts, begin[some]), (lasts, end[some])):
                # Each place comes once, so that adding sets bits, and is quicker than OR.
                np.add.at(edges, places >> 3, _BIT[places & 7])
        # As numbers, 2**end - 2**begin has ones in just the places from begin up to end.
        inside = int.from_bytes(lasts.tobytes(), "little")
        inside -= int.from_bytes(firsts.tobytes(), "little")
        return cls(_bytes_of(inside, (length + 7) // 8), length)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, indices: Numbers) -> Flags:
        found = self.bits.take(indices >> 3, mode="clip")
        found >>= (indices & 7).astype(np.uint8)
        found &= np.uint8(1)
        return found.view(np.bool_)

    def has(self, index: int) -> bool:
        """The same for one halfword."""
        return self._one[index >> 3] >> (index & 7) & 1 == 1

    def part(self, begin: int, end: int) -> Flags:
        """A flag for each halfword from `begin`, which is a multiple of 8, up to `end`."""
        end = min(end, self._length)
        bits = self.bits[begin >> 3 : (end + 7) >> 3]
        return np.unpackbits(bits, count=end - begin, bitorder="little").view(np.bool_)

    def between(self, begin: int, end: int) -> Indices:
        """Where the marks are from `begin` up to `end`, in order."""
        first = begin & ~7
        found = np.flatnonzero(self.part(first, end)) + first
        return found[np.searchsorted(found, begin) :]

    def indices(self) -> Indices:
        """Where the marks are, in order."""
        found = [np.zeros(0, dtype=np.intp)]
        for begin in range(0, self._length, CHUNK):
            found.append(np.flatnonzero(self.part(begin, begin + CHUNK)) + begin)
        return np.concatenate(found)

    def any(self) -> bool:
        """Whether there are marks."""
        return bool(self.bits.any())

    def add(self, indices: Numbers | Iterable[int]) -> None:
        """Mark more places."""
        places = np.asarray(indices, dtype=np.intp)
        np.bitwise_or.at(self.bits, places >> 3, _BIT[places & 7])

    def __or__(self, others: Marks) -> Marks:
        return Marks(self.bits | others.bits, self._length)

    def __and__(self, others: Marks) -> Marks:
        return Marks(self.bits & others.bits, self._length)

    def without(self, others: Marks) -> Marks:
        """These less the others."""
        return Marks(self.bits & ~others.bits, self._length)


def number_of(flags: Flags | npt.NDArray[np.uint8]) -> int:
    """Zeros and ones as the bits of a number, the first one lowest."""
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def flags_of(number: int, count: int) -> npt.NDArray[np.uint8]:
    """The lowest `count` bits of a number as zeros and ones."""
    return np.unpackbits(_bytes_of(number, (count + 7) // 8), count=count, bitorder="little")


def _bytes_of(number: int, count: int) -> npt.NDArray[np.uint8]:
    return np.frombuffer(bytearray(number.to_bytes(count, "little")), dtype=np.uint8)
