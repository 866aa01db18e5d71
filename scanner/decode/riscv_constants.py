"""RISC-V instructions that complete a constant in a register."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.effects import Constants, Direct
from scanner.decode.instruction_set import Flags, Indices
from scanner.decode.marks import Marks
from scanner.decode.riscv_compressed import Words, instruction_words
from scanner.decode.select import among, select

_IMMEDIATE, _LUI, _AUIPC = 0x13, 0x37, 0x17
_UPPER = ((0x7F, _LUI), (0x7F, _AUIPC), (0xE003, 0x6001))  # LUI, AUIPC, C.LUI
_LOAD, _STORE = 0x03, 0x23
_AT_ZERO = ((0x807F, _LOAD), (0x807F, _STORE))
_AT_GLOBAL = ((0x807F, 0x8000 | _LOAD), (0x807F, 0x8000 | _STORE))
"""Loads and stores whose base has an even number, or an odd one."""

_GLOBAL, _STACK = 3, 2
_STEPS = 4
"""Compilers put few instructions between the two halves of an address."""


def constants(space: CodeSpace, wide: Flags, starts: Marks) -> tuple[Constants, Direct]:
    """Upper halves, to which loads and stores add their distance, and whole numbers.

    Then loads and stores around address 0, and around gp where all code sets it to the same.
    """
    uppers, words = _uppers(space, starts)
    values = _upper(space, uppers, words)
    sums, whole = _sums(space, wide, starts, uppers, words)
    made = Constants(
        np.concatenate([uppers, sums]),
        np.concatenate([values, whole]),
        np.arange(len(uppers) + len(sums)) >= len(uppers),
    )
    pointers = np.unique(whole[words_at(space, sums) >> 7 & 31 == _GLOBAL])
    return made, _direct(space, starts, pointers)


def _uppers(space: CodeSpace, starts: Marks) -> tuple[Indices, Words]:
    """Places and words of all LUI and AUIPC."""
    uppers = select(space, starts, _UPPER)
    words = words_at(space, uppers)
    is_upper = among(words & 0x7F, (_LUI, _AUIPC))
    return uppers[is_upper], words[is_upper]


def _sums(
    space: CodeSpace, wide: Flags, starts: Marks, uppers: Indices, words: Words
) -> tuple[Indices, npt.NDArray[np.uint32]]:
    """ADDI to a register that LUI or AUIPC has set shortly before, and what it makes."""
    register = words >> 7 & 31
    values = _upper(space, uppers, words)
    rows = np.flatnonzero((register != 0) & (register != _STACK))
    at = uppers[rows]
    found = [(uppers[:0], values[:0])]
    for _ in range(_STEPS):
        two = wide.take(space.halfwords.take(at, mode="clip"), mode="clip")
        behind = np.minimum(at + 1 + two, len(space) - 1)
        # An instruction inside this one may come right before the next, too; then that one counts.
        inside = two & starts[behind - 1] & ~wide[space.halfwords[behind - 1]]
        goes_on = starts[behind] & ~inside
        rows, behind = rows[goes_on], behind[goes_on]
        after = words_at(space, behind)
        adds = (after & 0x707F == _IMMEDIATE) & (after >> 15 & 31 == register[rows])
        low = (after[adds].astype(np.int32) >> 20).astype(np.uint32)
        found.append((behind[adds], values[rows[adds]] + low))
        kept = ~writes(after, register[rows])
        rows, at = rows[kept], behind[kept]
    sums, whole = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.argsort(sums)
    return sums[order], whole[order]


def _direct(space: CodeSpace, starts: Marks, pointers: npt.NDArray[np.uint32]) -> Direct:
    forms, origins = [*_AT_ZERO], np.zeros(2, dtype=np.int32)
    if len(pointers) == 1:
        forms += _AT_GLOBAL
        origins[1] = pointers.astype(np.int32)[0]
    moves = select(space, starts, forms)
    # What is left of the base's number, which is 0 or 3, lies in the second halfword.
    is_global = space.halfwords[moves] >> 15
    moves = moves[space.halfwords[moves + 1] & 0xF == is_global]
    words = words_at(space, moves)
    stores = words & 0x7F == _STORE
    far = words.astype(np.int32) >> 20
    distance = np.where(stores, far & ~31 | (words >> 7 & 31).astype(np.int32), far)
    addresses = origins[words >> 15 & 1].astype(np.int64) + distance
    return Direct(moves, (addresses & 0xFFFFFFFF).astype(np.uint32), stores)


def words_at(space: CodeSpace, indices: Indices) -> Words:
    """Instructions at indices as 32-bit words."""
    first = space.halfwords.take(indices, mode="clip")
    return instruction_words(first, space.halfwords.take(indices + 1, mode="clip"))


def _upper(space: CodeSpace, indices: Indices, words: Words) -> npt.NDArray[np.uint32]:
    origin = np.where(words & 0x7F == _AUIPC, space.addresses(indices), 0)
    return ((words & 0xFFFFF000) + origin).astype(np.uint32)


def writes(words: Words, registers: Words) -> Flags:
    """Whether instructions may write these registers: all but stores and branches do."""
    found: Flags = (words >> 7 & 31 == registers) & ~among(words & 0x7F, (0x23, 0x27, 0x63))
    return found
