"""RISC-V instructions that complete a constant in a register."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.effects import Constants, Direct
from scanner.decode.instruction_set import Flags, Indices
from scanner.decode.riscv_compressed import Words, instruction_words
from scanner.decode.select import previous, select

_IMMEDIATE, _LUI, _AUIPC = 0x13, 0x37, 0x17
_UPPER = ((0x7F, _LUI), (0x7F, _AUIPC), (0xE003, 0x6001))  # LUI, AUIPC, C.LUI
_SUM = ((0x707F, _IMMEDIATE), (0xE003, 0x0001))  # ADDI, C.ADDI
_LOAD, _STORE = 0x03, 0x23
_MOVES = ((0x7F, _LOAD), (0x7F, _STORE))
_GLOBAL, _STACK = 3, 2
_STEPS = 4
"""Compilers put few instructions between the two halves of an address."""


def constants(space: CodeSpace, wide: Flags, starts: Flags) -> Constants:
    """Upper halves, to which loads and stores add their distance, and whole numbers."""
    uppers = select(space, starts, _UPPER)
    words = words_at(space, uppers)
    is_upper = np.isin(words & 0x7F, (_LUI, _AUIPC))
    uppers, words = uppers[is_upper], words[is_upper]
    values = _upper(space, uppers, words)
    sums, whole = _sums(space, wide, starts)
    return Constants(
        np.concatenate([uppers, sums]),
        np.concatenate([values, whole]),
        np.arange(len(uppers) + len(sums)) >= len(uppers),
    )


def _sums(space: CodeSpace, wide: Flags, starts: Flags) -> tuple[Indices, npt.NDArray[np.uint32]]:
    """ADDI to a register that LUI or AUIPC has set shortly before."""
    sums = select(space, starts, _SUM)
    words = words_at(space, sums)
    base = words >> 15 & 31
    apart = (base != 0) & (base != _STACK) & (words & 0x7F == _IMMEDIATE)
    sums, words, base = sums[apart], words[apart], base[apart]
    values = np.zeros(len(sums), dtype=np.uint32)
    found = np.zeros(len(sums), dtype=np.bool_)
    open_rows, at = np.arange(len(sums)), sums
    for _ in range(_STEPS):
        at = previous(space, wide, starts, at)
        open_rows, at = open_rows[at >= 0], at[at >= 0]
        before = words_at(space, at)
        sets = writes(before, base[open_rows])
        made = sets & np.isin(before & 0x7F, (_LUI, _AUIPC))
        rows = open_rows[made]
        low = (words[rows].astype(np.int32) >> 20).astype(np.uint32)
        values[rows] = _upper(space, at[made], before[made]) + low
        found[rows] = True
        open_rows, at = open_rows[~sets], at[~sets]
    return sums[found], values[found]


def direct(space: CodeSpace, wide: Flags, starts: Flags) -> Direct:
    """Loads and stores around address 0, and around gp where all code sets it to the same."""
    moves = select(space, starts, _MOVES)
    words = words_at(space, moves)
    base = words >> 15 & 31
    stores = words & 0x7F == _STORE
    sums, values = _sums(space, wide, starts)
    pointers = np.unique(values[words_at(space, sums) >> 7 & 31 == _GLOBAL])
    known = base == 0
    if len(pointers) == 1:
        known |= base == _GLOBAL
    origin = np.where(base == _GLOBAL, pointers[:1] if len(pointers) else 0, 0)
    far = words.astype(np.int32) >> 20
    distance = np.where(stores, far & ~31 | (words >> 7 & 31).astype(np.int32), far)
    addresses = (origin + distance & 0xFFFFFFFF).astype(np.uint32)
    return Direct(moves[known], addresses[known], stores[known])


def words_at(space: CodeSpace, indices: Indices) -> Words:
    """Instructions at indices as 32-bit words."""
    return instruction_words(space.halfwords[indices], space.halfwords[indices + 1])


def _upper(space: CodeSpace, indices: Indices, words: Words) -> npt.NDArray[np.uint32]:
    origin = np.where(words & 0x7F == _AUIPC, space.addresses(indices), 0)
    return ((words & 0xFFFFF000) + origin).astype(np.uint32)


def writes(words: Words, registers: Words) -> Flags:
    """Whether instructions may write these registers: all but stores and branches do."""
    found: Flags = (words >> 7 & 31 == registers) & ~np.isin(words & 0x7F, (0x23, 0x27, 0x63))
    return found
