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
from scanner.decode.instruction_set import Flags, Indices

_MAX_WORDS = 512
_ALIGNMENT = 128
"""A table of 16 words and some interrupts lies at least on such an address (VTOR.TBLOFF)."""

_SYSTEM = 16
_NEEDED, _OPTIONAL, _RESERVED = (1, 2, 3), (11, 14, 15), range(7, 11)
"""Reset, NMI, HardFault; SVCall, PendSV, SysTick; what the core leaves, and some vendors use."""

_RAM = range(0x10000000, 0xA0000000)


def vectors(space: CodeSpace) -> Iterator[int]:
    """Code pointers of all tables; some may lead out of the space."""
    first, inside = [], [np.zeros(0, dtype=np.intp)]
    for index, length, address in space.runs():
        if length >= 4 and address % 4 == 0:
            first.append(index)
        begin, end = index + -address % _ALIGNMENT // 2, index + length - 2 * _SYSTEM + 1
        inside.append(np.arange(begin, end, _ALIGNMENT // 2))
    tables = np.union1d(
        _programs(space, np.array(first, dtype=np.intp)), _tables(space, np.concatenate(inside))
    ).tolist()
    for begin, following in pairwise([*tables, len(space)]):
        yield from table_pointers(space.code(begin, following - begin))


def _programs(space: CodeSpace, places: Indices) -> Indices:
    """Places that begin with a stack pointer and a pointer to code."""
    begins: Flags = (_word(space, places, 0) % 4 == 0) & _leads_into(space, places, 1)
    return places[begins]


def _tables(space: CodeSpace, places: Indices) -> Indices:
    """Places where nothing contradicts a table."""
    stacks = _word(space, places, 0)
    places = places[(stacks % 4 == 0) & (stacks >= _RAM.start) & (stacks <= _RAM.stop)]
    for entry in _NEEDED:
        places = places[_leads_into(space, places, entry)]
    for entry in _OPTIONAL:
        absent = _word(space, places, entry) == 0
        places = places[_leads_into(space, places, entry) | absent]
    return places


def _word(space: CodeSpace, places: Indices, number: int) -> npt.NDArray[np.int64]:
    """A word of each table."""
    low, high = (space.halfwords[places + 2 * number + n].astype(np.int64) for n in (0, 1))
    word: npt.NDArray[np.int64] = low | high << 16
    return word


def _leads_into(space: CodeSpace, places: Indices, number: int) -> Flags:
    """Which of these words are odd and lead to a halfword of the space."""
    pointers = _word(space, places, number)
    inside: Flags = (pointers % 2 == 1) & (space.indices(pointers - 1) >= 0)
    return inside


def table_pointers(data: bytes) -> Iterator[int]:
    """The odd words behind the first of a table, up to the first that is neither odd nor zero."""
    count = min(len(data) // 4, _MAX_WORDS)
    table = np.frombuffer(data, dtype="<u4", count=count).tolist()
    for number, word in enumerate(table[1:], start=1):
        if word % 2:
            yield word
        elif word and number not in _RESERVED:
            return
