"""Words of code memory that Thumb instructions load by their distance from PC."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.instruction_set import Indices
from scanner.decode.marks import Marks
from scanner.decode.select import has_form, select

_PC = 15
_WIDE = 0xE800
Distances = npt.NDArray[np.int64]


LOADS = ((0xF800, 0x4800), (0xFF7F, 0xF85F))
"""LDR Rt, [PC, #imm], narrow and wide, by their first halfwords."""

_ADDRESSES = ((0xF800, 0xA000), (0xFBFF, 0xF20F), (0xFBFF, 0xF2AF))
"""ADR, narrow, and wide upward and downward, by their first halfwords."""

_OTHERS = ((0xFF7F, 0xE95F), (0xFF3F, 0xED1F))


def literal_loads(space: CodeSpace, starts: Marks) -> tuple[Indices, Indices]:
    """LDR Rt, [PC, #imm], narrow and wide: instructions, and first halfwords of the words."""
    return literals_of(space, select(space, starts, LOADS))


def literals_of(space: CodeSpace, loads: Indices) -> tuple[Indices, Indices]:
    """The same for such instructions at indices; those whose word lies outside are left out."""
    is_wide = space.halfwords[loads] >= _WIDE
    narrow, wide = loads[~is_wide], loads[is_wide]
    first, second = halves(space, wide)
    is_load = second >> 12 != _PC
    return _readable(
        space,
        np.concatenate([narrow, wide[is_load]]),
        np.concatenate(
            [
                (space.halfwords[narrow] & 0xFF).astype(np.int64) * 4,
                _signed(first, (second & 0xFFF).astype(np.int64))[is_load],
            ]
        ),
        words=1,
    )


def literal_halfwords(space: CodeSpace, starts: Marks) -> Indices:
    """All halfwords that the marked instructions load as constants: LDR, LDRD, VLDR."""
    every = select(space, starts, (*LOADS, *_OTHERS))
    single = has_form(space.halfwords[every], LOADS)
    _, places = literals_of(space, every[single])
    found = [places, places + 1]
    others = every[~single]
    first, second = halves(space, others)
    is_pair = (first & 0xFF7F) == 0xE95F
    double = ~is_pair & ((second & 0x0F00) == 0x0B00)
    single = ~is_pair & ((second & 0x0F00) == 0x0A00)
    for chosen, words in ((is_pair | double, 2), (single, 1)):
        distances = _signed(first[chosen], (second[chosen] & 0xFF).astype(np.int64) * 4)
        _, places = _readable(space, others[chosen], distances, words)
        found += [places + offset for offset in range(2 * words)]
    return np.concatenate(found)


def addressed_halfwords(space: CodeSpace, starts: Marks) -> Indices:
    """First halfwords of what ADR Rd, #imm makes the address of, if that is even."""
    every = select(space, starts, _ADDRESSES)
    is_wide = space.halfwords[every] >= _WIDE
    narrow, wide = every[~is_wide], every[is_wide]
    first, second = halves(space, wide)
    number = (first >> 10 & 1) << 11 | (second >> 12 & 7) << 8 | second & 0xFF
    down = (first & 0x80) != 0
    distances = np.where(down, -number.astype(np.int64), number.astype(np.int64))
    chosen = (number % 2 == 0) & ((second & 0x8000) == 0)
    low = (space.halfwords[narrow] & 0xFF).astype(np.int64) * 4
    _, places = _readable(
        space,
        np.concatenate([narrow, wide[chosen]]),
        np.concatenate([low, distances[chosen]]),
        words=1,
    )
    return places


def halves(space: CodeSpace, indices: Indices) -> tuple[npt.NDArray[np.uint32], ...]:
    """The halfwords at the indices, and those behind them."""
    return (
        space.halfwords.take(indices, mode="clip").astype(np.uint32),
        space.halfwords.take(indices + 1, mode="clip").astype(np.uint32),
    )


def _signed(first: npt.NDArray[np.uint32], distances: Distances) -> Distances:
    """Bit 7 of the first halfword says that the distance is upward."""
    return np.where((first & 0x80) != 0, distances, -distances)


def _readable(
    space: CodeSpace, indices: Indices, distances: Distances, words: int
) -> tuple[Indices, Indices]:
    """Instructions whose literal lies in the same run, with its first halfword."""
    loads: list[Indices] = [np.zeros(0, dtype=np.intp)]
    places: list[Indices] = [np.zeros(0, dtype=np.intp)]
    for first, length, address in space.runs():
        inside = (indices >= first) & (indices < first + length)
        own = address + 2 * (indices[inside] - first).astype(np.int64)
        target = ((own + 4) & ~3) + distances[inside]
        at = (target - address) // 2
        readable = (at >= 0) & (at + 2 * words <= length) & (address % 2 == 0)
        loads.append(indices[inside][readable])
        places.append((at[readable] + first).astype(np.intp))
    return np.concatenate(loads), np.concatenate(places)
