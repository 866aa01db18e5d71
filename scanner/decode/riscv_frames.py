"""Functions of RV32C by what they take from the stack pointer and give back.

Source: The RISC-V Instruction Set Manual, volume I (20191213), chapter 16: C.ADDI, C.ADDI16SP.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.frames import paired
from scanner.decode.instruction_set import Indices

_FORM, _BY_ONE, _BY_16 = 0xEF83, 0x0101, 0x6101
"""C.ADDI sp and C.ADDI16SP, under a mask without their immediates."""

_RETURN = 0x8082


def frames(space: CodeSpace) -> tuple[Indices, Indices]:
    """Where the stack pointer goes down, and where it goes up by as much right before a return."""
    words = space.halfwords
    forms = words & _FORM
    places = np.flatnonzero((forms == _BY_ONE) | (forms == _BY_16))
    sizes = _immediates(words[places].astype(np.intp))
    down = sizes < 0
    up = (sizes > 0) & (words.take(places + 1, mode="clip") == _RETURN)
    return paired(places[down], -sizes[down], places[up], sizes[up])


def _immediates(words: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    sign = -(words >> 12 & 1)
    by_one = sign << 5 | words >> 2 & 31
    by_16 = (
        sign << 9
        | (words >> 3 & 3) << 7
        | (words >> 5 & 1) << 6
        | (words >> 2 & 1) << 5
        | (words >> 6 & 1) << 4
    )
    return np.where(words & _FORM == _BY_ONE, by_one, by_16)
