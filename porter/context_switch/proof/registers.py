"""Registers of an emulated processor, many at a time.

A state sets some fifty of them and an end reads as many. Unicorn's own calls, one a register or one
for several, take most of a proof's time for finding each register's type anew.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import unicorn as _unicorn

unicorn: Any = _unicorn  # its type information says less than it does


class Registers:
    """A group of plain registers, of up to 64 bits each. Raises UcError as Unicorn does."""

    def __init__(self, uc: Any, numbers: Sequence[int]) -> None:
        """`numbers`: Unicorn's, of this processor."""
        self._uc = uc
        self._count = len(numbers)
        self._numbers = (ctypes.c_int * self._count)(*numbers)
        self._written, self._into = self._words()
        self._found, self._out_of = self._words()

    def _words(self) -> tuple[Any, Any]:
        """Room for each register, and pointers to it."""
        words = (ctypes.c_uint64 * self._count)()
        begin, size = ctypes.addressof(words), ctypes.sizeof(ctypes.c_uint64)
        places = range(begin, begin + size * self._count, size)
        return words, (ctypes.c_void_p * self._count)(*places)

    def write(self, values: Sequence[int]) -> None:
        """A value for each."""
        self._written[:] = values
        self._check(self._uc._do_reg_write_batch(self._numbers, self._into, self._count))

    def read(self) -> list[int]:
        """The value of each."""
        self._check(self._uc._do_reg_read_batch(self._numbers, self._out_of, self._count))
        return list(self._found)

    def _check(self, status: int) -> None:
        if status:
            raise unicorn.UcError(status)
