"""What RISC-V instructions make of constants (volume I, 20191213, chapters 2, 8 and 24)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from scanner.decode.effects import NONE, Effect, Effects
from scanner.decode.instruction_set import Flags
from scanner.decode.riscv_compressed import Words
from scanner.decode.select import among

_LOAD, _LOAD_FP, _STORE, _STORE_FP, _ATOMIC = 0x03, 0x07, 0x23, 0x27, 0x2F
_IMMEDIATE, _REGISTERS, _LUI, _AUIPC = 0x13, 0x33, 0x37, 0x17
_BRANCH, _FENCE, _FLOATING = 0x63, 0x0F, 0x53
_NO_RESULT = _LOAD_FP, _STORE_FP, _STORE, _BRANCH, _FENCE, 0x43, 0x47, 0x4B, 0x4F
_INTEGER_RESULTS = 0x14, 0x18, 0x1C
"""Upper five bits of comparisons, conversions and moves from floating point to integer."""

_LOAD_RESERVED = 2
_SUBTRACT, _SHIFTED_SUMS = 0x20, 0x10

ARGUMENTS = sum(1 << number for number in range(10, 18))
CLOBBERED = ARGUMENTS | sum(1 << number for number in (1, 5, 6, 7, 28, 29, 30, 31))


def effects(words: Words, addresses: npt.NDArray[np.int64]) -> Effects:
    """One row an instruction; words as `instruction_words` gives them."""
    table = _Table(words)
    left, right = _register(words, 15), _register(words, 20)
    number = (words.astype(np.int32) >> 20).astype(np.int64)
    upper = (words & 0xFFFFF000).astype(np.int64)
    table.put(_LUI, None, None, Effect.ADD, number=upper)
    table.put(_AUIPC, None, None, Effect.ADD, number=upper + addresses)
    table.put(_IMMEDIATE, 0, None, Effect.ADD, base=left, number=number)
    table.put(_IMMEDIATE, 1, 0, Effect.ADD, index=left, shift=number & 31)
    table.put(_IMMEDIATE, 6, None, Effect.OR, base=left, number=number)
    table.put(_IMMEDIATE, 7, None, Effect.AND, base=left, number=number)
    table.put(_REGISTERS, 0, 0, Effect.ADD, base=left, index=right)
    table.put(_REGISTERS, 0, _SUBTRACT, Effect.SUBTRACT, base=left, index=right)
    table.put(_REGISTERS, 6, 0, Effect.OR, base=left, index=right)
    table.put(_REGISTERS, 7, 0, Effect.AND, base=left, index=right)
    for function in (2, 4, 6):
        shift = function >> 1
        table.put(
            _REGISTERS, function, _SHIFTED_SUMS, Effect.ADD, base=right, index=left, shift=shift
        )
    table.put(_LOAD, None, None, Effect.LOAD, base=left, number=number)
    table.put(_LOAD_FP, None, None, Effect.LOAD, target=NONE, base=left, number=number)
    low = number & ~31 | (words >> 7 & 31)
    table.put(_STORE, None, None, Effect.STORE, target=right, base=left, number=low)
    table.put(_STORE_FP, None, None, Effect.STORE, target=NONE, base=left, number=low)
    compares = np.where((left != NONE) & (right != NONE), Effect.COMPARE, Effect.OTHER)
    table.put(_BRANCH, None, None, compares, target=NONE, base=left, index=right)
    table.put_atomics(left, right)
    return table.effects


class _Table:
    """Rows that are filled in by opcode, function and the upper seven bits."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._opcode, self._function, self._top = words & 0x7F, words >> 12 & 7, words >> 25
        self.effects = Effects.nothing(len(words))
        result = _register(words, 7)
        result[among(self._opcode, _NO_RESULT)] = NONE
        is_floating = self._opcode == _FLOATING
        result[is_floating & ~among(words >> 27, _INTEGER_RESULTS)] = NONE
        self._result = result
        self.effects.written[:] = np.where(result != NONE, np.uint32(1) << (result % NONE), 0)

    def put(
        self,
        opcode: int,
        function: int | None,
        top: int | None,
        kind: int | npt.NDArray[np.intp],
        **columns: Any,
    ) -> None:
        """Set columns of the rows of that form; None is any."""
        rows = self._opcode == opcode
        if function is not None:
            rows &= self._function == function
        if top is not None:
            rows &= self._top == top
        self._fill(rows, kind, columns)
        self.effects.written[rows] = 0

    def put_atomics(self, left: npt.NDArray[np.uint8], right: npt.NDArray[np.uint8]) -> None:
        """LR loads; SC and the AMOs store, and what they load is not known."""
        atomic = self._opcode == _ATOMIC
        reserves = atomic & (self._words >> 27 == _LOAD_RESERVED)
        self._fill(atomic & ~reserves, Effect.STORE, {"target": right, "base": left})
        self._fill(reserves, Effect.LOAD, {"base": left})

    def _fill(self, rows: Flags, kind: int | npt.NDArray[np.intp], columns: dict[str, Any]) -> None:
        for name, value in {"kind": kind, "target": self._result, **columns}.items():
            column = getattr(self.effects, name)
            column[rows] = value[rows] if isinstance(value, np.ndarray) else value


def _register(words: Words, bit: int) -> npt.NDArray[np.uint8]:
    """A register field; x0 holds nothing, as NONE does."""
    number = (words >> np.uint32(bit) & 31).astype(np.uint8)
    return np.where(number == 0, NONE, number).astype(np.uint8)
