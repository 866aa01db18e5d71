"""Fields of debug information, read so that no length that lies leads out of its unit."""

from __future__ import annotations

NAME_BYTES = 1024
"""Names are cut behind so many bytes: no compiler writes longer ones."""


class EndOfDataError(Exception):
    """A read behind the end, or a form that has no known size."""


class Reader:
    """Little-endian fields with a position that never passes the end."""

    def __init__(self, data: bytes, position: int, end: int) -> None:
        self.data, self.position, self.end = data, position, end

    def take(self, size: int) -> bytes:
        """The next bytes."""
        start = self.position
        if start + size > self.end:
            raise EndOfDataError
        self.position = start + size
        return self.data[start : self.position]

    def unsigned(self, size: int) -> int:
        """A number of so many bytes."""
        return int.from_bytes(self.take(size), "little")

    def uleb128(self) -> int:
        """A number as long as it needs."""
        value = shift = 0
        for position in range(self.position, self.end):
            byte = self.data[position]
            if shift < 64:
                value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                self.position = position + 1
                return value
        raise EndOfDataError

    def sleb128(self) -> int:
        """The same with a sign."""
        start = self.position
        value = self.uleb128()
        bits = 7 * (self.position - start)
        sign = self.data[self.position - 1] & 0x40
        return value - (1 << bits) if sign and bits < 64 else value

    def text(self) -> bytes:
        """A name that ends with a zero byte."""
        stop = self.data.find(b"\0", self.position, self.end)
        if stop < 0:
            raise EndOfDataError
        start, self.position = self.position, stop + 1
        return self.data[start : min(stop, start + NAME_BYTES)]
