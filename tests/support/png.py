"""The pixels of a PNG as Chromium writes it: 8 bits a channel, RGB or RGBA, not interlaced."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {2: 3, 6: 4}  # colour type -> bytes a pixel


@dataclass(frozen=True)
class Picture:
    """Rows of bytes."""

    width: int
    height: int
    channels: int
    rows: tuple[bytes, ...]

    def at(self, x: float, y: float) -> tuple[int, int, int]:
        """Red, green and blue of the pixel around a point."""
        start = int(x) * self.channels
        red, green, blue = self.rows[int(y)][start : start + 3]
        return red, green, blue


def read_png(data: bytes) -> Picture:
    """Decode; the checksums are left to zlib."""
    assert data.startswith(_SIGNATURE)
    position, packed, header = len(_SIGNATURE), b"", b""
    while position < len(data):
        size, kind = struct.unpack_from(">I4s", data, position)
        body = data[position + 8 : position + 8 + size]
        if kind == b"IHDR":
            header = body
        elif kind == b"IDAT":
            packed += body
        position += size + 12
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", header)
    assert depth == 8 and not interlaced
    channels = _CHANNELS[colour]
    raw, stride = zlib.decompress(packed), width * channels
    rows: list[bytes] = []
    above = bytes(stride)
    for start in range(0, len(raw), stride + 1):
        above = _unfiltered(raw[start], raw[start + 1 : start + 1 + stride], above, channels)
        rows.append(above)
    assert len(rows) == height
    return Picture(width, height, channels, tuple(rows))


def _unfiltered(kind: int, line: bytes, above: bytes, step: int) -> bytes:
    """One row (PNG specification, 9.2)."""
    if kind == 0:
        return line
    row = bytearray(line)
    for index in range(len(row)):
        left = row[index - step] if index >= step else 0
        corner = above[index - step] if index >= step else 0
        row[index] = row[index] + _predicted(kind, left, above[index], corner) & 0xFF
    return bytes(row)


def _predicted(kind: int, left: int, up: int, corner: int) -> int:
    if kind == 1:
        return left
    if kind == 2:
        return up
    if kind == 3:
        return (left + up) // 2
    distances = (abs(up - corner), abs(left - corner), abs(left + up - 2 * corner))
    return (left, up, corner)[distances.index(min(distances))]
