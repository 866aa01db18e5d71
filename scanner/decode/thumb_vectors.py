"""Vector tables of the M-profile (ARMv6-M ARM B1.5.3, ARMv7-M ARM B1.5.3, ARMv8-M ARM chapter B3).

A program begins with its table, and so does every part of a file that holds several programs, a
boot loader and what it starts. Parts that follow each other without a gap, and programs behind a
header, have their tables inside: there a table must look like one in all of its first 16 words.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace

_MAX_WORDS = 512
_ALIGNMENT = 128
"""A table of 16 words and some interrupts lies at least on such an address (VTOR.TBLOFF)."""

_SYSTEM = 16
_NEEDED, _OPTIONAL, _RESERVED = (1, 2, 3), (11, 14, 15), range(7, 11)
"""Reset, NMI, HardFault; SVCall, PendSV, SysTick; what the core leaves, and some vendors use."""

_RAM = range(0x10000000, 0xA0000000)

Words = npt.NDArray[np.uint32]


def vectors(space: CodeSpace) -> Iterator[int]:
    """Code pointers of all tables; some may lead out of the space."""
    for first, length, address in space.runs():
        skipped = address % 4 // 2
        count = (length - skipped) // 2
        words = space.halfwords[first + skipped : first + skipped + 2 * count].view("<u4")
        tables = _tables(space, words, address + 2 * skipped)
        for row, following in pairwise([*tables, count]):
            yield from _pointers(words[row : min(row + _MAX_WORDS, following)].tolist())


def _tables(space: CodeSpace, words: Words, address: int) -> list[int]:
    """Rows of the words that open tables, in the run that begins at the address."""
    found = []
    if len(words) > 1 and words[0] % 4 == 0 and _leads_into(space, words[1:2])[0]:
        found.append(0)
    rows = np.arange(-address % _ALIGNMENT // 4, len(words) - _SYSTEM + 1, _ALIGNMENT // 4)
    stacks = words[rows]
    rows = rows[(stacks % 4 == 0) & (stacks >= _RAM.start) & (stacks <= _RAM.stop)]
    for entry in _NEEDED:
        rows = rows[_leads_into(space, words[rows + entry])]
    for entry in _OPTIONAL:
        rows = rows[_leads_into(space, words[rows + entry]) | (words[rows + entry] == 0)]
    return found + [row for row in rows.tolist() if row or not found]


def _leads_into(space: CodeSpace, pointers: Words) -> npt.NDArray[np.bool_]:
    """Which are odd and lead to a halfword of the space."""
    targets = pointers.astype(np.int64)
    inside: npt.NDArray[np.bool_] = (targets % 2 == 1) & (space.indices(targets - 1) >= 0)
    return inside


def _pointers(table: list[int]) -> Iterator[int]:
    """The odd words, up to the first that is neither odd nor zero."""
    for number, word in enumerate(table[1:], start=1):
        if word % 2:
            yield word
        elif word and number not in _RESERVED:
            return
