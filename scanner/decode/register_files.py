"""The registers of many lanes at once: what they hold, as far as it is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.effects import NONE, Effect, Effects
from scanner.decode.instruction_set import Flags

_COLUMNS = NONE + 1
_MASK = 0xFFFFFFFF
_BITS = np.uint64(1) << np.arange(64, dtype=np.uint64)
_NOTHING = np.uint64(0)

Rows = npt.NDArray[np.intp]
Values = npt.NDArray[np.uint32]
Masks = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.uint8]


class Read(NamedTuple):
    """What one register of each lane holds: the value is 0 where nothing of it is known."""

    value: Values
    known: Flags
    exact: Flags
    followed: Flags


@dataclass
class RegisterFiles:
    """One row a lane. Values stand in columns, the last one for NONE; the rest are sets of bits.

    A register that is not `known` holds anything, whatever its column says; one that is not `exact`
    has something unknown added to it. `followed` are those that hold the followed address.
    """

    values: Values
    known: Masks
    exact: Masks
    followed: Masks

    @classmethod
    def unknown(cls, count: int) -> RegisterFiles:
        """So many lanes that know nothing."""
        return cls(
            values=np.zeros((count, _COLUMNS), dtype=np.uint32),
            known=np.full(count, _BITS[NONE]),
            exact=np.full(count, _BITS[NONE]),
            followed=np.zeros(count, dtype=np.uint64),
        )

    def chosen(self, rows: Rows) -> RegisterFiles:
        """Copies of some lanes."""
        return RegisterFiles(
            self.values.take(rows, axis=0),
            self.known.take(rows),
            self.exact.take(rows),
            self.followed.take(rows),
        )

    def joined(self, others: RegisterFiles) -> RegisterFiles:
        """These and others behind them."""
        return RegisterFiles(
            np.concatenate([self.values, others.values]),
            np.concatenate([self.known, others.known]),
            np.concatenate([self.exact, others.exact]),
            np.concatenate([self.followed, others.followed]),
        )

    def read(self, registers: Numbers) -> Read:
        """One register of each lane."""
        bits = _BITS.take(registers)
        known = (self.known & bits) != 0
        value = self.values.reshape(-1).take(self._places(registers))
        value *= known
        return Read(value, known, (self.exact & bits) != 0, (self.followed & bits) != 0)

    def set(self, rows: Rows, registers: Numbers, values: Values, exact: Flags) -> None:
        """Make a register of some lanes known; it is not followed by that."""
        self.values.reshape(-1)[rows * _COLUMNS + registers] = values
        bits = _BITS.take(registers)
        self.known[rows] |= bits
        self.exact[rows] |= np.where(exact, bits, _NOTHING)

    def follow(self, rows: Rows, registers: Numbers) -> None:
        """Follow what a register of some lanes holds; nothing goes by NONE."""
        self.followed[rows] |= np.where(registers == NONE, _NOTHING, _BITS[registers])

    def forget(self, registers: Masks) -> None:
        """Make registers of each lane unknown."""
        kept = ~registers | _BITS[NONE]
        self.known &= kept
        self.exact &= kept
        self.followed &= kept

    def _places(self, registers: Numbers) -> Rows:
        places: Rows = np.arange(0, self.values.size, _COLUMNS)
        places += registers
        return places


class Operands:
    """The base and value of each lane's instruction, and the address or sum of both."""

    def __init__(self, files: RegisterFiles, effects: Effects) -> None:
        self.base = files.read(effects.base)
        index = files.read(effects.index)
        self.value = index.value << effects.shift.astype(np.uint32)
        self.value += (effects.number & _MASK).astype(np.uint32)
        self.value_known = index.known
        self.index_followed = index.followed & (effects.shift == 0)
        self.address = self.base.value + self.value
        self.exact = self.base.exact & index.exact


def compute(
    space: CodeSpace, files: RegisterFiles, effects: Effects, operands: Operands, maybe: Flags
) -> None:
    """Change registers as the instructions do; what may not be run changes as little as can be."""
    kind, target = effects.kind, effects.target
    result, known, followed = _results(kind, operands)
    exact = operands.exact & known
    _load(space, effects, operands, (result, known, exact))
    computed = (kind != Effect.OTHER) & (kind < Effect.STORE)
    bits = _BITS.take(target)
    changed = effects.written.astype(np.uint64)
    changed |= np.where(computed, bits, _NOTHING)
    changed[maybe & ((files.followed & bits) != 0)] = 0
    moved = np.flatnonzero((effects.update != 0) & ~maybe)
    change = (effects.update[moved].astype(np.int64) & _MASK).astype(np.uint32)
    files.values[moved, effects.base[moved]] += change
    files.forget(changed)
    rows = np.flatnonzero(known & computed & ~maybe & (target != NONE))
    files.set(rows, target[rows], result[rows], exact[rows])
    rows = rows[followed[rows]]
    files.follow(rows, target[rows])


def _results(kind: Numbers, operands: Operands) -> tuple[Values, Flags, Flags]:
    """Results where there are any, whether something is known of them, and follows an address."""
    base, value = operands.base, operands.value
    result = operands.address.copy()
    sums = (kind == Effect.ADD) | (kind == Effect.OR)
    known = sums & (base.known | operands.value_known)
    followed = sums & (base.followed | operands.index_followed)
    rows = np.flatnonzero((kind >= Effect.SUBTRACT) & (kind <= Effect.INSERT_TOP))
    if len(rows):
        kinds, left, right = kind[rows], base.value[rows], value[rows]
        result[rows] = np.choose(
            kinds - Effect.SUBTRACT,
            (left - right, left | right, left & right, left & 0xFFFF | right << np.uint32(16)),
        )
        others = np.where(kinds == Effect.AND, operands.exact[rows], base.known[rows])
        known[rows] |= (others & (kinds != Effect.OR)) | (kinds == Effect.INSERT_TOP)
        followed[rows] |= base.followed[rows] & (kinds != Effect.INSERT_TOP)
    return result, known, followed


def _load(
    space: CodeSpace,
    effects: Effects,
    operands: Operands,
    found: tuple[Values, Flags, Flags],
) -> None:
    """Words of the program that are loaded from a fixed place."""
    fixed = (effects.base == NONE) & (effects.index == NONE)
    rows = np.flatnonzero(fixed & (effects.kind == Effect.LOAD))
    if not len(rows):
        return
    result, known, exact = found
    places = space.indices(operands.address[rows].astype(np.int64))
    rows, places = rows[places >= 0], places[places >= 0]
    low, high = space.halfwords[places], space.halfwords[places + 1]
    result[rows] = low.astype(np.uint32) | high.astype(np.uint32) << np.uint32(16)
    known[rows] = exact[rows] = True
