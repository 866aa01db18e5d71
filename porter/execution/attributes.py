"""Attributes of GCC in preprocessed text: blanked, since they only qualify; weak ones noted."""

from __future__ import annotations

import re

_ATTRIBUTE = re.compile(rb"__attribute__|__attribute|__extension__|__inline__|__inline|__restrict")
_WEAK = re.compile(rb"\b(?:__)?weak(?:__)?\b")


def without_attributes(text: bytes) -> tuple[bytes, list[int]]:
    """The text with attributes blanked, and where an attribute said weak."""
    buffer = bytearray(text)
    weak = []
    for match in _ATTRIBUTE.finditer(text):
        end = match.end()
        if match.group().startswith(b"__attribute"):
            end = _closing(text, end)
            if _WEAK.search(text, match.end(), end):
                weak.append(match.start())
        buffer[match.start() : end] = re.sub(rb"[^\n]", b" ", text[match.start() : end])
    return bytes(buffer), weak


def _closing(text: bytes, position: int) -> int:
    """Just past the parenthesis that closes the one at or after `position`."""
    depth = 0
    for match in re.compile(rb"[()]|[^\s()]").finditer(text, position):
        if match.group() == b"(":
            depth += 1
        elif match.group() == b")":
            depth -= 1
        elif depth == 0:
            return position
        if depth == 0:
            return match.end()
    return position
