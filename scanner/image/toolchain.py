"""What a program says made it: the strings that compilers and linkers leave in `.comment`."""

from __future__ import annotations

from scanner.image.symbols import printable

_MOST, _LENGTH, _READ = 8, 200, 1 << 20


def toolchain(comment: bytes) -> tuple[str, ...]:
    """The different ones in order, as reports can show them: `GCC: (GNU) 12.2.0`."""
    found: dict[str, None] = {}
    for text in comment[:_READ].split(b"\0"):
        if text.strip() and len(found) < _MOST:
            found[printable(text[:_LENGTH].strip())] = None
    return tuple(found)
