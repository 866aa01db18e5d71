"""The flash as an image fills it: which address holds which byte."""

from __future__ import annotations

import bisect
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from composer.verify.findings import Unreadable

ERASED = 0xFF


@dataclass(frozen=True)
class Chunk:
    """Bytes from an address on."""

    base: int
    data: bytes

    @property
    def end(self) -> int:
        """First address behind."""
        return self.base + len(self.data)


@dataclass(frozen=True)
class Memory:
    """Chunks by address that neither overlap nor touch."""

    chunks: tuple[Chunk, ...]

    @cached_property
    def _bases(self) -> list[int]:
        return [chunk.base for chunk in self.chunks]

    def find(self, address: int, size: int) -> bytes | None:
        """The bytes there, None when the image doesn't fill all of them."""
        place = bisect.bisect_right(self._bases, address) - 1
        if place < 0 or size < 0:
            return None
        chunk = self.chunks[place]
        if address + size > chunk.end:
            return None
        return chunk.data[address - chunk.base : address - chunk.base + size]

    def read(self, address: int, size: int, what: str) -> bytes:
        """The bytes there; Unreadable names `what` was to be read."""
        data = self.find(address, size)
        if data is None:
            raise Unreadable(f"{what}: the image has no {size} bytes at 0x{address:08x}")
        return data

    def word(self, address: int) -> int | None:
        """A little-endian word."""
        data = self.find(address, 4)
        return None if data is None else int(struct.unpack("<I", data)[0])


class _Run:
    """A chunk while it grows."""

    def __init__(self, base: int, data: bytes) -> None:
        self.base, self.parts, self.end = base, [data], base + len(data)

    def append(self, data: bytes) -> None:
        """Add the bytes that follow."""
        self.parts.append(data)
        self.end += len(data)


def joined(pieces: Iterable[tuple[int, bytes]]) -> Memory:
    """Memory of pieces in any order; Unreadable where two want the same address."""
    chunks: list[_Run] = []
    for base, data in sorted(piece for piece in pieces if piece[1]):
        if chunks and base < chunks[-1].end:
            raise Unreadable(f"two segments want the bytes at 0x{base:08x}")
        if base + len(data) > 1 << 32:
            raise Unreadable(f"a segment at 0x{base:08x} ends behind the last address")
        if chunks and base == chunks[-1].end:
            chunks[-1].append(data)
        else:
            chunks.append(_Run(base, data))
    return Memory(tuple(Chunk(run.base, b"".join(run.parts)) for run in chunks))
