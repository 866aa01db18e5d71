"""The table of a vectored mtvec: a jump for each cause (privileged specification, mtvec)."""

from __future__ import annotations

from collections.abc import Iterator

_MOST = 64
_JAL_ZERO = 0x6F  # jal x0


def jump_targets(code: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Places of jumps that begin at `start`, one after the other, and where each goes unless the
    linker says otherwise; nothing for a single one."""
    last = min(end, start + 4 * _MOST, len(code) - 3)
    found = []
    for place in range(start, last, 4):
        word = int.from_bytes(code[place : place + 4], "little")
        if word & 0xFFF != _JAL_ZERO:
            break
        found.append((place, place + _offset(word)))
    if len(found) > 1:
        yield from found


def _offset(word: int) -> int:
    """The immediate of a J-type instruction, in bytes."""
    bits = (word >> 31 << 20) | (word >> 12 & 0xFF) << 12 | (word >> 20 & 1) << 11
    bits |= (word >> 21 & 0x3FF) << 1
    return bits - (1 << 21) if bits >> 20 else bits
