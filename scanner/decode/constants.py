"""Instructions of certain code that put a constant of interest into a register (Thumb)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.instruction_set import Flags, Indices
from scanner.decode.literals import halves, literal_loads, matching

_MAX_PAIR_DISTANCE = 16


@dataclass(frozen=True)
class Constant:
    """After the instruction at `index`, its first operand holds `value`.

    `whole` says that all 32 bits of the value were given: made on purpose, so rarely anything but
    what it looks like. `added` says that the value was added to what a register held.
    """

    index: int
    value: int
    whole: bool
    added: bool = False


def find_constants(
    space: CodeSpace, listed: Flags, wanted: Callable[[int], bool]
) -> Iterator[Constant]:
    """Literal loads, MOVW with MOVT, MOV.W and ADD.W of a constant that `wanted` accepts."""
    yield from _literals(space, listed, wanted)
    yield from _move_pairs(space, listed, wanted)
    yield from _modified_immediates(space, listed, wanted)
    yield from _added_immediates(space, listed, wanted)


def _literals(space: CodeSpace, listed: Flags, wanted: Callable[[int], bool]) -> Iterator[Constant]:
    """LDR Rt, [PC, #imm]."""
    indices, places = literal_loads(space, listed)
    low, high = halves(space, places)
    for index, value in _accepted(indices, low | high << np.uint32(16), wanted):
        yield Constant(index, value, whole=True)


def _accepted(
    indices: Indices, values: npt.NDArray[np.uint32], wanted: Callable[[int], bool]
) -> Iterator[tuple[int, int]]:
    """Pairs whose value is wanted; each value is asked for once."""
    accepted = [value for value in np.unique(values).tolist() if wanted(value)]
    chosen = np.isin(values, np.array(accepted, dtype=np.uint32))
    yield from zip(indices[chosen].tolist(), values[chosen].tolist(), strict=True)


def _move_pairs(
    space: CodeSpace, listed: Flags, wanted: Callable[[int], bool]
) -> Iterator[Constant]:
    """MOVT Rd after the nearest move of a constant into the same register."""
    highs = matching(space, listed, 0xFBF0, 0xF2C0)
    lows, low_registers, low_values = _moves(space, listed)
    first, second = halves(space, highs)
    high_values, high_registers = _immediate16(first, second), second >> 8 & 0xF
    nearest = np.searchsorted(lows, highs) - 1
    for row, high in enumerate(highs.tolist()):
        for position in range(int(nearest[row]), -1, -1):
            if high - int(lows[position]) > _MAX_PAIR_DISTANCE:
                break
            if low_registers[position] == high_registers[row]:
                value = int(high_values[row]) << 16 | int(low_values[position]) & 0xFFFF
                if wanted(value):
                    yield Constant(high, value, whole=True)
                break


def _moves(
    space: CodeSpace, listed: Flags
) -> tuple[Indices, npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Indices, registers and values of MOVW, MOV.W and MOVS of constants, in order."""
    movw = matching(space, listed, 0xFBF0, 0xF240)
    modified = matching(space, listed, 0xFBEF, 0xF04F)
    movs = matching(space, listed, 0xF800, 0x2000)
    movw_first, movw_second = halves(space, movw)
    first, second = halves(space, modified)
    short = space.halfwords[movs].astype(np.uint32)
    indices = np.concatenate([movw, modified, movs])
    registers = np.concatenate([movw_second >> 8 & 0xF, second >> 8 & 0xF, short >> 8 & 7])
    values = np.concatenate(
        [_immediate16(movw_first, movw_second), _EXPANDED[_code(first, second)], short & 0xFF]
    )
    order = np.argsort(indices)
    return indices[order], registers[order], values[order]


def _immediate16(
    first: npt.NDArray[np.uint32], second: npt.NDArray[np.uint32]
) -> npt.NDArray[np.uint32]:
    upper = (first & 0xF) << 12 | (first >> 10 & 1) << 11
    return (upper | (second >> 12 & 7) << 8 | second & 0xFF).astype(np.uint32)


def _modified_immediates(
    space: CodeSpace, listed: Flags, wanted: Callable[[int], bool]
) -> Iterator[Constant]:
    """MOV.W Rd, #constant: an 8-bit value, rotated or repeated."""
    for index, value in _expanded(space, matching(space, listed, 0xFBEF, 0xF04F), wanted):
        yield Constant(index, value, whole=False)


def _added_immediates(
    space: CodeSpace, listed: Flags, wanted: Callable[[int], bool]
) -> Iterator[Constant]:
    """ADD.W Rd, Rn, #constant: how compilers index the registers of the NVIC."""
    for index, value in _expanded(space, matching(space, listed, 0xFBE0, 0xF100), wanted):
        yield Constant(index, value, whole=False, added=True)


def _expanded(
    space: CodeSpace, indices: Indices, wanted: Callable[[int], bool]
) -> Iterator[tuple[int, int]]:
    """The modified immediates of instructions of that form, where they are wanted."""
    first, second = halves(space, indices)
    sound = (second & 0x8000) == 0
    yield from _accepted(indices[sound], _EXPANDED[_code(first, second)][sound], wanted)


def _code(first: npt.NDArray[np.uint32], second: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
    """The 12 bits i:imm3:imm8 of a modified immediate."""
    return (_immediate16(first, second) & 0xFFF).astype(np.uint32)


def expand_immediate(code: int) -> int:
    """The constant that the 12 bits i:imm3:imm8 stand for (ARM A5.3.2)."""
    byte = code & 0xFF
    if code >> 10 == 0:
        return byte * (0x00000001, 0x00010001, 0x01000100, 0x01010101)[code >> 8]
    value, rotation = 0x80 | code & 0x7F, code >> 7
    return (value >> rotation | value << (32 - rotation)) & 0xFFFFFFFF


_EXPANDED = np.array([expand_immediate(code) for code in range(0x1000)], dtype=np.uint32)
