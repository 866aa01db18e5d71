"""Thumb instructions that complete a constant in a register."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.effects import Constants
from scanner.decode.instruction_set import Flags, Indices
from scanner.decode.literals import LOADS, halves, literals_of
from scanner.decode.marks import Marks
from scanner.decode.select import has_form, previous, select
from scanner.decode.thumb_effects import EXPANDED
from scanner.decode.thumb_sums import behind_sums, summed

_AT_ONCE = 1 << 18
"""So many instructions are looked at together: of what nothing but these repeats there are many."""

_PAIR_STEPS = 16
_WIDE: Flags = np.arange(0x10000) >= 0xE800
_MADE = ((0xFBEF, 0xF04F), (0xFBEF, 0xF06F))  # MOV, MVN of a modified immediate
_ADDED = ((0xFBE0, 0xF100), (0xFBE0, 0xF1A0))  # ADD, SUB of one
TOP = (0xFBF0, 0xF2C0)  # MOVT
_SHIFT = (0xF800, 0x0000)  # LSLS Rd, Rm, #imm
_MIN_SHIFT = 8

Values = npt.NDArray[np.uint32]
Numbers = npt.NDArray[np.integer[Any]]


def constants(space: CodeSpace, starts: Marks) -> Constants:
    """Literal loads, MOVT, modified immediates, small numbers shifted up, and sums of such."""
    every = select(space, starts, (*LOADS, *_MADE, *_ADDED, TOP, _SHIFT))
    loads, immediates, tops, shifts, sums = _by_form(space, every)
    found = chain(
        _in_parts(lambda part: _literals(space, part), loads),
        _in_parts(lambda part: _immediates(space, part), immediates),
        _in_parts(lambda part: pairs(space, starts, part), tops),
        _in_parts(lambda part: _shifted(space, starts, part), shifts),
        _in_parts(lambda part: summed(space, starts, part), sums),
    )
    return Constants(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _by_form(space: CodeSpace, every: Indices) -> list[Indices]:
    """Loads, modified immediates, MOVT, far shifts, and shifts that may complete a sum."""
    found: list[list[Indices]] = [[every[:0]] for _ in range(5)]
    for begin in range(0, len(every), _AT_ONCE):
        part = every[begin : begin + _AT_ONCE]
        first = space.halfwords.take(part, mode="clip")
        shifts = np.flatnonzero(has_form(first, (_SHIFT,)))
        far = (first.take(shifts) >> 6 & 0x1F) >= _MIN_SHIFT
        for form, indices in zip(
            found,
            (
                part[has_form(first, LOADS)],
                part[has_form(first, (*_MADE, *_ADDED))],
                part[has_form(first, (TOP,))],
                part[shifts[far]],
                behind_sums(space, part[shifts]),
            ),
            strict=True,
        ):
            form.append(indices)
    return [np.concatenate(form) for form in found]


def _in_parts(make: Callable[[Indices], Constants], indices: Indices) -> Iterator[Constants]:
    for begin in range(0, max(len(indices), 1), _AT_ONCE):
        yield make(indices[begin : begin + _AT_ONCE])


def _literals(space: CodeSpace, loads: Indices) -> Constants:
    indices, places = literals_of(space, loads)
    low, high = halves(space, places)
    return _constants(indices, low | high << np.uint32(16), whole=True)


def _immediates(space: CodeSpace, makers: Indices) -> Constants:
    """MOV.W and MVN make 8 bits, rotated or repeated; ADD.W is how compilers index the NVIC."""
    first, second = halves(space, makers)
    rows = np.flatnonzero((second & 0x8000) == 0)
    first, second = first[rows], second[rows]
    negated, subtracted = _has_form(first, _MADE[1]), _has_form(first, _ADDED[1])
    values = EXPANDED[_immediate16(first, second) & 0xFFF]
    values = np.where(negated, ~values, np.where(subtracted, -values, values))
    return _constants(makers[rows], values.astype(np.uint32), whole=False)


def pairs(space: CodeSpace, starts: Marks, tops: Indices) -> Constants:
    """MOVT after the nearest move of a constant into the same register."""
    first, second = halves(space, tops)
    lows, known = _moved(space, starts, tops, second >> 8 & 0xF)
    values = _immediate16(first, second) << np.uint32(16) | lows & 0xFFFF
    return _constants(tops[known], values[known], whole=True)


def _shifted(space: CodeSpace, starts: Marks, shifts: Indices) -> Constants:
    first, _ = halves(space, shifts)
    numbers, known = _moved(space, starts, shifts, first >> 3 & 7)
    values = numbers << (first >> 6 & 0x1F)
    return _constants(shifts[known], values[known], whole=False)


def _moved(
    space: CodeSpace, starts: Marks, indices: Indices, registers: Numbers
) -> tuple[Values, Flags]:
    """What the nearest move of a constant before each index puts into its register, if any does."""
    values = np.zeros(len(indices), dtype=np.uint32)
    known = np.zeros(len(indices), dtype=np.bool_)
    rows, at = np.arange(len(indices)), indices
    for _ in range(_PAIR_STEPS):
        if not len(rows):
            break
        at = previous(space, _WIDE, starts, at)
        rows, at = rows[at >= 0], at[at >= 0]
        first, second = halves(space, at)
        register = registers[rows]
        movs = (first & 0xFF00) == (0x2000 | register << np.uint32(8))
        same = ((second >> 8 & 0xF) == register) & ((second & 0x8000) == 0)
        movw = same & _has_form(first, (0xFBF0, 0xF240))
        modified = same & _has_form(first, _MADE[0])
        imm16 = _immediate16(first, second)
        hits = movs | movw | modified
        values[rows[hits]] = np.select(
            [movs, movw], [first & 0xFF, imm16], EXPANDED[imm16 & 0xFFF]
        )[hits]
        known[rows[hits]] = True
        rows, at = rows[~hits], at[~hits]
    return values, known


def _constants(indices: Indices, values: Numbers, whole: bool) -> Constants:
    return Constants(indices, values.astype(np.uint32), np.full(len(indices), whole))


def _has_form(first: Values, form: tuple[int, int]) -> Flags:
    mask, match = form
    found: Flags = (first & np.uint32(mask)) == match
    return found


def _immediate16(first: Values, second: Values) -> Values:
    upper = (first & 0xF) << 12 | (first >> 10 & 1) << 11
    return (upper | (second >> 12 & 7) << 8 | second & 0xFF).astype(np.uint32)
