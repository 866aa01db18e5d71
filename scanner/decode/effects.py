"""What instructions do to registers, as far as following an address needs it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

NONE = 32
"""Stands for no register, and always reads as 0; RISC-V's x0 is this one."""

Registers = npt.NDArray[np.uint8]


class Effect:
    """How the result comes about, as plain numbers; `value` is `index << shift`, plus `number`."""

    OTHER = 0  # nothing that is followed
    ADD = 1  # target = base + value; a constant has neither base nor index
    SUBTRACT = 2  # target = base - value
    OR = 3  # target = base | value
    AND = 4  # target = base & value
    INSERT_TOP = 5  # target = lower half of base, number as upper half
    LOAD = 6  # target = memory at base + value
    STORE = 7  # memory at base + value = target
    GO = 8  # control goes to the address in base
    SWITCH = 9  # the same, and bit 0 of the address chooses the instruction set
    COMPARE = 10  # base with index, two registers


@dataclass(frozen=True)
class Effects:
    """Rows of instructions.

    `update` is added to the base afterwards. `written` has a bit for each register besides target
    and base whose content is not known afterwards.
    """

    kind: npt.NDArray[np.uint8]
    target: Registers
    base: Registers
    index: Registers
    shift: npt.NDArray[np.uint8]
    number: npt.NDArray[np.int64]
    update: npt.NDArray[np.int32]
    written: npt.NDArray[np.uint32]

    @classmethod
    def nothing(cls, rows: int) -> Effects:
        """Rows of instructions that do nothing, to be filled in."""
        nowhere = np.full(rows, NONE, dtype=np.uint8)
        return cls(
            kind=np.zeros(rows, dtype=np.uint8),
            target=nowhere,
            base=nowhere.copy(),
            index=nowhere.copy(),
            shift=np.zeros(rows, dtype=np.uint8),
            number=np.zeros(rows, dtype=np.int64),
            update=np.zeros(rows, dtype=np.int32),
            written=np.zeros(rows, dtype=np.uint32),
        )

    def chosen(self, rows: npt.NDArray[np.integer[Any]]) -> Effects:
        """Copies of some rows, in the order of their numbers."""
        return Effects(*(getattr(self, column.name).take(rows) for column in fields(self)))

    def put(self, rows: npt.NDArray[np.intp], others: Effects) -> None:
        """Replace rows by others."""
        for column in fields(self):
            getattr(self, column.name)[rows] = getattr(others, column.name)


class Direct(NamedTuple):
    """Loads and stores at addresses that need no constant to be made first."""

    indices: npt.NDArray[np.intp]
    addresses: npt.NDArray[np.uint32]
    store: npt.NDArray[np.bool_]

    @classmethod
    def none(cls) -> Direct:
        """No such accesses."""
        nowhere = np.zeros(0, dtype=np.intp)
        return cls(nowhere, nowhere.astype(np.uint32), nowhere.astype(np.bool_))


class Constants(NamedTuple):
    """Instructions after which a register holds a constant.

    `whole` says that all 32 bits of the value were given: made on purpose, so rarely anything but
    what it looks like. The others may be added to what is not known yet.
    """

    indices: npt.NDArray[np.intp]
    values: npt.NDArray[np.uint32]
    whole: npt.NDArray[np.bool_]

    def chosen(self, rows: npt.NDArray[np.intp] | slice) -> Constants:
        """Some rows."""
        return Constants(self.indices[rows], self.values[rows], self.whole[rows])
