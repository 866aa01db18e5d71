"""Functions of Thumb by their PUSH and POP (ARMv7-M ARM A7.7.98, A7.7.99)."""

from __future__ import annotations

import numpy as np

from scanner.decode.code_space import CodeSpace
from scanner.decode.frames import paired
from scanner.decode.instruction_set import Indices
from scanner.decode.literals import halves
from scanner.decode.select import has_form

_PUSH, _PUSH_WIDE = (0xFF00, 0xB500), (0xFFFF, 0xE92D)
_POP, _POP_WIDE = (0xFF00, 0xBD00), (0xFFFF, 0xE8BD)
_LR, _PC = 1 << 14, 1 << 15
_REGISTERS = 0x1FFF


def frames(space: CodeSpace) -> tuple[Indices, Indices]:
    """Where stretches begin that push LR, and the instruction that pops the same into PC or LR."""
    begins, pushed = _lists(space, _PUSH, _PUSH_WIDE, _LR)
    ends, popped = _lists(space, _POP, _POP_WIDE, _LR | _PC)
    return paired(begins, pushed, ends, popped)


def _lists(
    space: CodeSpace, narrow: tuple[int, int], wide: tuple[int, int], link: int
) -> tuple[Indices, Indices]:
    """Places of such instructions with the link register among theirs, and R0 to R12 of each."""
    short = np.flatnonzero(has_form(space.halfwords, [narrow]))
    long = np.flatnonzero(has_form(space.halfwords, [wide]))
    _, lists = halves(space, long)
    linked = np.flatnonzero(lists & np.uint32(link))
    long, lists = long[linked], lists[linked]
    registers = np.concatenate([space.halfwords[short] & 0xFF, lists & _REGISTERS])
    return np.concatenate([short, long]), registers.astype(np.intp)
