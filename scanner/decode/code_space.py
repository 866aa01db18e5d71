"""Executable memory as one row of halfwords, whatever segments and gaps it is made of."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from scanner.decode.instruction_set import Halfwords
from scanner.image.model import Image, Segment
from scanner.policy import Grant


@dataclass(frozen=True)
class Piece:
    """Executable bytes at an address, and where in the file they stand, if they do."""

    address: int
    data: memoryview
    offset: int | None

    @property
    def end(self) -> int:
        """First address behind the piece."""
        return self.address + len(self.data)


def executable_pieces(
    image: Image, code_grants: Iterable[Grant], called: Collection[int] = ()
) -> list[Piece]:
    """Every executable segment, and what else is stored where the domain may execute.

    The second kind is the flash copy of initialised data: bytes in a region that the protection
    unit opens for execution, whatever the flags of their segment say. The third are segments in
    which symbols say that functions are, or that are `called`.
    """
    begins = np.array(sorted(called), dtype=np.int64)
    if image.symbols is not None:
        begins = np.union1d(begins, image.symbols.functions()[0].astype(np.int64) & ~1)
    pieces = [
        Piece(s.address, s.data, s.offset)
        for s in image.segments
        if s.executable or _holds(s, begins)
    ]
    stored = [s for s in image.segments if not s.executable or s.load_address != s.address]
    for grant in code_grants:
        pieces += [
            Piece(s.load_address, s.data, s.offset)
            for s in stored
            if s.load_address < grant.end and _load_end(s) > grant.base
        ]
    return sorted((piece for piece in pieces if piece.data), key=lambda piece: piece.address)


def constant_pieces(image: Image) -> list[Piece]:
    """Stored segments that nobody executes or writes: jump tables may stand there."""
    constant = [s for s in image.segments if not s.executable and not s.writable and s.data]
    return [Piece(s.address, s.data, s.offset) for s in constant]


def _holds(segment: Segment, addresses: npt.NDArray[np.int64]) -> bool:
    """Whether one of the sorted addresses lies in the bytes of a segment."""
    first, last = np.searchsorted(addresses, (segment.address, segment.address + len(segment.data)))
    return bool(first < last)


def _load_end(segment: Segment) -> int:
    return segment.load_address + len(segment.data)


class CodeSpace:
    """Pieces side by side; adjacent ones are joined, because an instruction can straddle them.

    Index i is the halfword i of the row. Between runs of adjacent pieces stands one halfword that
    belongs to no address: `barriers` holds their indices. `constants` are only read as words.
    """

    def __init__(self, pieces: Iterable[Piece], constants: Iterable[Piece] = ()) -> None:
        self._constants = sorted(constants, key=lambda piece: piece.address)
        self._constant_addresses = [piece.address for piece in self._constants]
        runs: list[list[Piece]] = []
        for piece in pieces:
            if runs and runs[-1][-1].end == piece.address:
                runs[-1].append(piece)
            else:
                runs.append([piece])
        self._runs = runs
        self._firsts: list[int] = []
        self._addresses: list[int] = []
        self._lengths: list[int] = []
        parts: list[Halfwords] = []
        position = 0
        for run in runs:
            words = _halfwords(run)
            self._firsts.append(position)
            self._addresses.append(run[0].address + run[0].address % 2)
            self._lengths.append(len(words))
            parts += [words, np.zeros(1, dtype=np.uint16)]
            position += len(words) + 1
        self.halfwords: Halfwords = np.concatenate(parts or [np.zeros(0, dtype=np.uint16)])
        self._rows = tuple(
            np.array(column, dtype=np.int64)
            for column in (self._addresses, self._lengths, self._firsts)
        )
        self.barriers = [first + n for first, n in zip(self._firsts, self._lengths, strict=True)]

    def __len__(self) -> int:
        return len(self.halfwords)

    def barriers_in(self, begin: int, end: int) -> list[int]:
        """The barriers at begin or behind it, before end."""
        return self.barriers[bisect_left(self.barriers, begin) : bisect_left(self.barriers, end)]

    def runs(self) -> Iterable[tuple[int, int, int]]:
        """First index, number of halfwords and first address of each run."""
        return zip(self._firsts, self._lengths, self._addresses, strict=True)

    def address(self, index: int) -> int:
        """Address of a halfword."""
        run = bisect_right(self._firsts, index) - 1
        return self._addresses[run] + 2 * (index - self._firsts[run])

    def index(self, address: int) -> int | None:
        """Halfword at an even address; None outside."""
        run = bisect_right(self._addresses, address) - 1
        if run < 0 or address % 2:
            return None
        distance = (address - self._addresses[run]) // 2
        return self._firsts[run] + distance if distance < self._lengths[run] else None

    def indices(self, addresses: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
        """Halfwords at even addresses; -1 for what lies outside."""
        starts, lengths, firsts = self._rows
        rows = np.searchsorted(starts, addresses, "right") - 1
        known = np.maximum(rows, 0)
        distances = (addresses - starts[known]) // 2
        inside = (rows >= 0) & (addresses % 2 == 0) & (distances < lengths[known])
        return np.where(inside, firsts[known] + distances, -1)

    def tabled(self, tables: Sequence[Sequence[int]]) -> list[int]:
        """Halfwords at the addresses that tables hold; each ends where one lies outside."""
        lengths = np.array([len(table) for table in tables], dtype=np.intp)
        addresses = np.fromiter(chain.from_iterable(tables), np.int64, lengths.sum())
        indices = self.indices(addresses)
        outside = np.flatnonzero(indices < 0)
        if len(outside):
            rows = np.repeat(np.arange(len(tables)), lengths)
            ends = np.full(len(tables), len(indices))
            np.minimum.at(ends, rows[outside], outside)
            indices = indices[np.arange(len(indices)) < ends[rows]]
        found: list[int] = indices.tolist()
        return found

    def addresses(self, indices: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
        """Addresses of halfwords."""
        starts, _, firsts = self._rows
        rows = np.searchsorted(firsts, indices, "right") - 1
        found: npt.NDArray[np.int64] = (starts - 2 * firsts)[rows] + 2 * indices
        return found

    def away(
        self, indices: npt.NDArray[np.int32], distances: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.int32]:
        """Halfwords so many halfwords away in memory; -1 for what lies outside."""
        if len(self._firsts) == 1:
            found = indices + distances
            outside = (found < 0) | (found >= self._lengths[0])
            found[outside] = -1
            return found
        addresses = self.addresses(indices.astype(np.intp)) + 2 * distances.astype(np.int64)
        return self.indices(addresses).astype(np.int32)

    def nearest(self, addresses: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
        """Indices of the first halfwords at or above addresses; the length if there is none."""
        starts, lengths, firsts = self._rows
        rows = np.searchsorted(starts, addresses, "right") - 1
        known = np.maximum(rows, 0)
        distances = (addresses - starts[known] + 1) // 2
        behind = np.append(firsts[1:], len(self))
        found = np.where(distances < lengths[known], firsts[known] + distances, behind[known])
        return np.where(rows < 0, 0, found)

    def offset(self, index: int) -> int | None:
        """Offset in the file of a halfword's first byte, if the file holds it as it is."""
        address = self.address(index)
        run = self._runs[bisect_right(self._firsts, index) - 1]
        piece = run[bisect_right([piece.address for piece in run], address) - 1]
        return None if piece.offset is None else piece.offset + address - piece.address

    def word(self, address: int) -> int | None:
        """The 32-bit word at an even address, as a load would see it."""
        words = self.words(address, 1)
        return words[0] if words else None

    def words(self, address: int, count: int) -> list[int]:
        """So many words from an even address on, up to the first that is not there."""
        index = self.index(address)
        data = self._constant(address, 4 * count) if index is None else self.code(index, 2 * count)
        found: list[int] = np.frombuffer(data, dtype="<u4", count=len(data) // 4).tolist()
        return found

    def _constant(self, address: int, size: int) -> memoryview | bytes:
        row = bisect_right(self._constant_addresses, address) - 1
        if row < 0:
            return b""
        start = address - self._constant_addresses[row]
        return self._constants[row].data[start : start + size]

    def code(self, index: int, halfwords: int) -> bytes:
        """Bytes from a halfword on, at most up to the end of its run."""
        run = bisect_right(self._firsts, index) - 1
        end = min(index + halfwords, self.barriers[run])
        return self.halfwords[index:end].tobytes()


def _halfwords(run: list[Piece]) -> Halfwords:
    """The run from its first even address on; a last odd byte can't begin an instruction."""
    data: memoryview | bytes = run[0].data if len(run) == 1 else b"".join(p.data for p in run)
    start = run[0].address % 2
    whole = memoryview(data)[start : start + (len(data) - start) // 2 * 2]
    return np.frombuffer(whole, dtype="<u2")
