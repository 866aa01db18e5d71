"""String literals: what their characters are, and where in the file each of them stands."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from porter.source.c_lexer import SPLICE, Token

_SIMPLE = {
    b"n": b"\n", b"t": b"\t", b"r": b"\r", b"v": b"\v", b"f": b"\f",
    b"a": b"\a", b"b": b"\b", b"0": b"\0",
}  # fmt: skip
_RAW = re.compile(rb'(?:u8|[LuU])?R"([^(]*)\((.*)\)\1"', re.DOTALL)


@dataclass(frozen=True)
class DecodedText:
    """`text` with its escapes resolved; `offsets[i]` is where text[i] starts in the file."""

    text: bytes
    offsets: tuple[int, ...]
    end: int

    def span(self, start: int, end: int) -> tuple[int, int]:
        """File offsets of text[start:end]."""
        last = self.offsets[end] if end < len(self.offsets) else self.end
        return self.offsets[start] if start < len(self.offsets) else self.end, last


def decode_strings(tokens: Iterable[Token]) -> DecodedText:
    """Adjacent string literals as one text (C joins them)."""
    text = bytearray()
    offsets: list[int] = []
    end = 0
    for token in tokens:
        if token.kind != "string":
            continue
        if (raw := _RAW.fullmatch(token.text)) is not None:
            text += raw[2]
            offsets += range(token.start + raw.start(2), token.start + raw.end(2))
            end = token.start + raw.end(2)
            continue
        body_start = token.start + token.text.index(b'"') + 1
        body = token.text[token.text.index(b'"') + 1 : -1]
        index = 0
        while index < len(body):
            value, length = _character(body, index)
            text += value
            offsets += [body_start + index] * len(value)
            index += length
        end = token.end - 1
    return DecodedText(bytes(text), tuple(offsets), end)


def _character(body: bytes, index: int) -> tuple[bytes, int]:
    """The decoded character at `index` (empty for a line splice) and its length in the source."""
    if body[index : index + 1] != b"\\":
        return body[index : index + 1], 1
    if (splice := SPLICE.match(body, index)) is not None:
        return b"", splice.end() - index
    rest = body[index + 1 : index + 5]
    if rest[:1] == b"x":
        digits = _leading(rest[1:3], b"0123456789abcdefABCDEF")
        return (bytes([int(digits, 16)]), 2 + len(digits)) if digits else (b"x", 2)
    octal = _leading(rest[:3], b"01234567")
    if octal:
        return bytes([int(octal, 8) & 0xFF]), 1 + len(octal)
    return _SIMPLE.get(rest[:1], rest[:1]), 2


def _leading(text: bytes, allowed: bytes) -> bytes:
    length = 0
    while length < len(text) and text[length : length + 1] in allowed and text[length : length + 1]:
        length += 1
    return text[:length]
