"""The vector table of a built program, for projects whose start-up code isn't in their sources."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from scanner.image.elf import load_elf
from scanner.image.model import Segment

_WORD = 4
_SHORTEST = 16
_RAM = range(0x1000_0000, 0x4000_0000)
DEFAULT_USES = 3  # an address in so many entries is a default handler


def vectors_of(path: Path, entries: int) -> dict[int, str]:
    """Handler by exception number, default handlers left out; {} if there is no table of at most
    so many entries."""
    try:
        image = load_elf(path.read_bytes())
    except OSError:
        return {}
    if image.symbols is None:
        return {}
    for segment in sorted(image.segments, key=lambda segment: segment.address):
        table = _words(segment, entries)
        if len(table) >= _SHORTEST and table[0] in _RAM and _is_code(table[1], segment):
            break
    else:
        return {}
    uses = Counter(table)
    found: dict[int, str] = {}
    for exception, word in enumerate(table):
        if exception and _is_code(word, segment) and uses[word] < DEFAULT_USES:
            name = image.symbols.function_at(word & ~1)
            if name is not None:
                found[exception] = name
    return found


def _words(segment: Segment, count: int) -> list[int]:
    data = bytes(segment.data[: count * _WORD])
    return [int.from_bytes(data[n : n + _WORD], "little") for n in range(0, len(data) - 3, _WORD)]


def _is_code(word: int, segment: Segment) -> bool:
    """A Thumb address in the segment."""
    return word & 1 == 1 and segment.address <= word < segment.end
