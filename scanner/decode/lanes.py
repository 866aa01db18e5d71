"""Loads and stores through constants: every constant is followed through the code, all at once.

A lane is one constant under way. All lanes take a step together: decode, say what is accessed
through the registers that hold the followed address, compute what is computable, forget the rest,
and go on. At a branch a lane parts in two, and where the address is an argument of a call, another
lane goes into the callee. A lane ends with its steps, with its last followed register, or where
it has been before.

Lanes start a few instructions before their constant, because compilers like to prepare the value of
a store first.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.effects import NONE, Constants, Effect, Effects
from scanner.decode.instruction_set import Flags, Flow, Halfwords, Indices, InstructionSet
from scanner.decode.select import previous

_BEFORE, _STEPS = 8, 96
_MAX_LANES = 4096
_MAX_PARTINGS = 16
"""A constant is followed on no more than so many ways."""

_COLUMNS = NONE + 1
_MASK = 0xFFFFFFFF


class Accesses(NamedTuple):
    """Rows of accesses in the order in which they were met: LOAD, STORE or GO.

    `origin` is the row of the constant; `own` says that no call was followed to get there. Without
    `exact` something unknown is added to the address; `value` is what is stored, where `valued`
    says that it is known.
    """

    origin: npt.NDArray[np.intp]
    own: Flags
    place: Indices
    kind: npt.NDArray[np.uint8]
    address: npt.NDArray[np.uint32]
    exact: Flags
    value: npt.NDArray[np.uint32]
    valued: Flags


_NO_ACCESSES = Accesses(
    *(np.zeros(0, dtype=kind) for kind in (np.intp, "?", np.intp, "u1", "u4", "?", "u4", "?"))
)


@dataclass
class _Lanes:
    """Rows of lanes. Registers are columns; the last one always holds 0.

    A lane is `waiting` before its constant. `skips` counts the instructions ahead that may not be
    run. A register's value is 0 unless it is `known`, and has something unknown added to it unless
    it is `exact`.
    """

    origin: npt.NDArray[np.intp]
    at: Indices
    left: npt.NDArray[np.int32]
    skips: npt.NDArray[np.int32]
    waiting: Flags
    own: Flags
    values: npt.NDArray[np.uint32]
    known: Flags
    exact: Flags
    followed: Flags

    def chosen(self, rows: npt.NDArray[np.intp] | Flags) -> _Lanes:
        """Copies of some lanes."""
        return _Lanes(*(getattr(self, field.name)[rows] for field in fields(self)))

    def forget(self, which: Flags) -> None:
        """Make registers unknown; one flag for each row and column."""
        which[:, NONE] = False
        self.known &= ~which
        self.exact &= ~which
        self.followed &= ~which
        self.values[which] = 0


def follow(space: CodeSpace, isa: InstructionSet, starts: Flags, constants: Constants) -> Accesses:
    """Accesses through the constants."""
    found = [_NO_ACCESSES]
    for begin in range(0, len(constants.indices), _MAX_LANES):
        part = constants.chosen(slice(begin, begin + _MAX_LANES))
        found += _Following(space, isa, starts, part).run(begin)
    return Accesses(*(np.concatenate(column) for column in zip(*found, strict=True)))


class _Following:
    def __init__(
        self, space: CodeSpace, isa: InstructionSet, starts: Flags, constants: Constants
    ) -> None:
        self._space, self._isa, self._starts = space, isa, starts
        self._constants = constants
        self._been: set[int] = set()
        self._partings = np.zeros(len(constants.indices), dtype=np.int32)
        self._found: list[Accesses] = []

    def run(self, first: int) -> list[Accesses]:
        """Accesses whose origins count from `first`."""
        lanes = self._beginnings()
        while len(lanes.at):
            lanes = self._step(lanes)
        return [rows._replace(origin=rows.origin + first) for rows in self._found]

    def _beginnings(self) -> _Lanes:
        count = len(self._constants.indices)
        at = self._constants.indices
        for _ in range(_BEFORE):
            before = previous(self._space, self._isa.wide, self._starts, at)
            at = np.where(before >= 0, before, at)
        known = np.zeros((count, _COLUMNS), dtype=np.bool_)
        known[:, NONE] = True
        return _Lanes(
            origin=np.arange(count),
            at=at,
            left=np.where(self._constants.whole, _STEPS, _STEPS // 2).astype(np.int32),
            skips=np.zeros(count, dtype=np.int32),
            waiting=np.ones(count, dtype=np.bool_),
            own=np.ones(count, dtype=np.bool_),
            values=np.zeros((count, _COLUMNS), dtype=np.uint32),
            known=known,
            exact=known.copy(),
            followed=np.zeros((count, _COLUMNS), dtype=np.bool_),
        )

    def _step(self, lanes: _Lanes) -> _Lanes:
        words = self._space.halfwords
        first, second = words[lanes.at], words[lanes.at + 1]
        effects = self._isa.effects(first, second, self._space.addresses(lanes.at))
        operands = _Operands(lanes, effects)
        self._note(lanes, effects, operands)
        maybe = lanes.skips > 0
        compute(self._space, lanes, effects, operands, maybe)
        self._begin(lanes, effects)
        lanes.skips = np.maximum(lanes.skips - 1, 0)
        lanes.left -= 1
        kinds, targets, length = self._flows(lanes, first, second)
        parted = self._part(lanes, kinds, targets, maybe)
        ends = (kinds == Flow.RETURN) | (kinds == Flow.STOP) | (kinds == Flow.COMPUTED)
        jumps = kinds == Flow.JUMP
        broken = lanes.waiting & (ends | jumps) & ~maybe
        lanes.forget(np.repeat(broken[:, None], _COLUMNS, axis=1))
        lanes.at = lanes.at + length
        alive = lanes.waiting | (((~ends & ~jumps) | maybe) & lanes.followed.any(axis=1))
        alive &= (lanes.left > 0) & self._starts[lanes.at]
        return _joined([lanes.chosen(alive), *parted])

    def _begin(self, lanes: _Lanes, effects: Effects) -> None:
        """Make the constant in the lanes that have come to it."""
        rows = np.flatnonzero(lanes.waiting & (lanes.at == self._constants.indices[lanes.origin]))
        origin, target = lanes.origin[rows], effects.target[rows]
        whole = self._constants.whole[origin]
        given = whole | ~lanes.known[rows, target]
        lanes.values[rows, target] = np.where(
            given, self._constants.values[origin], lanes.values[rows, target]
        )
        lanes.known[rows, target] = True
        lanes.exact[rows, target] |= whole
        lanes.followed[rows, target] = True
        lanes.waiting[rows] = False

    def _note(self, lanes: _Lanes, effects: Effects, operands: _Operands) -> None:
        """Keep the accesses through followed registers."""
        moves = effects.kind >= Effect.LOAD
        rows = np.flatnonzero(moves & (operands.base_followed | operands.index_followed))
        if not len(rows):
            return
        target = effects.target[rows]
        store = effects.kind[rows] == Effect.STORE
        self._found.append(
            Accesses(
                origin=lanes.origin[rows],
                own=lanes.own[rows],
                place=lanes.at[rows],
                kind=effects.kind[rows],
                address=operands.address[rows],
                exact=operands.exact[rows],
                value=lanes.values[rows, target],
                valued=store & lanes.exact[rows, target] & (target != NONE),
            )
        )

    def _flows(
        self, lanes: _Lanes, first: Halfwords, second: Halfwords
    ) -> tuple[npt.NDArray[np.uint8], Indices, npt.NDArray[np.intp]]:
        """Kinds of flow, targets (-1: none that is known), and lengths."""
        kinds = np.zeros(len(lanes.at), dtype=np.uint8)
        targets = np.full(len(lanes.at), -1, dtype=np.intp)
        length = 1 + self._isa.wide[first].astype(np.intp)
        rows = np.flatnonzero(~self._isa.ordinary[first])
        if len(rows):
            flows = self._isa.flows(first[rows], second[rows])
            kinds[rows] = flows.kind
            length[rows] = flows.length
            lanes.skips[rows] = np.maximum(lanes.skips[rows], flows.conditional)
            addresses = self._space.addresses(lanes.at[rows]) + 2 * flows.distance.astype(np.int64)
            direct = (flows.kind >= Flow.JUMP) & (flows.kind <= Flow.CALL)
            targets[rows[direct]] = self._space.indices(addresses[direct])
        return kinds, targets, length

    def _part(
        self, lanes: _Lanes, kinds: npt.NDArray[np.uint8], targets: Indices, maybe: Flags
    ) -> list[_Lanes]:
        """Lanes that go where branches, jumps and calls lead."""
        going = ~lanes.waiting & (targets >= 0) & self._starts[targets]
        going &= self._partings[lanes.origin] < _MAX_PARTINGS
        calls = (kinds == Flow.CALL) | (kinds == Flow.COMPUTED_CALL)
        arguments = _columns(self._isa.arguments)
        passing = going & (kinds == Flow.CALL) & (lanes.followed & arguments).any(axis=1)
        leaving = going & ((kinds == Flow.JUMP) | (kinds == Flow.BRANCH))
        leaving &= lanes.followed.any(axis=1)
        rows = np.array(
            [
                row
                for row in np.flatnonzero(passing | leaving).tolist()
                if self._is_new(int(lanes.origin[row]), int(targets[row]))
            ],
            dtype=np.intp,
        )
        parted = lanes.chosen(rows)
        parted.at = targets[rows]
        parted.skips[:] = 0
        inside = passing[rows]
        parted.left[inside] //= 2
        parted.own[inside] = False
        parted.forget(inside[:, None] & ~arguments)
        lanes.forget(calls[:, None] & _columns(self._isa.clobbered))
        return [parted]

    def _is_new(self, origin: int, target: int) -> bool:
        """Whether a lane of that origin may part to a target where none has been."""
        key = origin << 32 | target
        if key in self._been:
            return False
        self._been.add(key)
        self._partings[origin] += 1
        return True


class _Operands:
    """The base and value of each row's instruction, and the address or sum of both."""

    def __init__(self, lanes: _Lanes, effects: Effects) -> None:
        rows = np.arange(len(lanes.at))
        base, index = effects.base, effects.index
        self.base = lanes.values[rows, base]
        self.base_known, self.base_exact = lanes.known[rows, base], lanes.exact[rows, base]
        self.base_followed = lanes.followed[rows, base]
        self.value = lanes.values[rows, index] << effects.shift.astype(np.uint32)
        self.value += (effects.number & _MASK).astype(np.uint32)
        self.value_known, self.value_exact = lanes.known[rows, index], lanes.exact[rows, index]
        self.index_followed = lanes.followed[rows, index] & (effects.shift == 0)
        self.address = self.base + self.value
        self.exact = self.base_exact & self.value_exact


def compute(
    space: CodeSpace, lanes: _Lanes, effects: Effects, operands: _Operands, maybe: Flags
) -> None:
    """Change registers as the instructions do; what may not be run changes as little as can be."""
    kind, target = effects.kind, effects.target
    sums, differences = kind == Effect.ADD, kind == Effect.SUBTRACT
    result = np.select(
        [differences, kind == Effect.OR, kind == Effect.AND, kind == Effect.INSERT_TOP],
        [
            operands.base - operands.value,
            operands.base | operands.value,
            operands.base & operands.value,
            operands.base & np.uint32(0xFFFF) | operands.value << np.uint32(16),
        ],
        operands.address,
    )
    either = operands.base_known | operands.value_known
    known = np.select(
        [sums, differences | (kind == Effect.OR), kind == Effect.AND, kind == Effect.INSERT_TOP],
        [either, operands.base_known, operands.exact, np.ones_like(either)],
        False,
    )
    followed = operands.base_followed & (differences | (kind == Effect.OR) | (kind == Effect.AND))
    followed |= sums & (operands.base_followed | operands.index_followed)
    exact = operands.exact & known
    _load(space, effects, operands, (result, known, exact))
    changed = effects.written[:, None] >> np.arange(_COLUMNS, dtype=np.uint32) & 1 != 0
    changed[:, NONE] = False
    computed = (kind != Effect.OTHER) & (kind < Effect.STORE)
    rows = np.arange(len(kind))
    changed[rows, target] |= computed
    keeps = maybe & lanes.followed[rows, target]
    changed[keeps] = False
    moved = np.flatnonzero((effects.update != 0) & ~maybe)
    base = effects.base[moved]
    change = (effects.update[moved].astype(np.int64) & _MASK).astype(np.uint32)
    lanes.values[moved, base] += np.where(lanes.known[moved, base], change, np.uint32(0))
    lanes.forget(changed)
    set_ = np.flatnonzero(known & computed & ~maybe & (target != NONE))
    register = target[set_]
    lanes.values[set_, register] = result[set_]
    lanes.known[set_, register] = True
    lanes.exact[set_, register] = exact[set_]
    lanes.followed[set_, register] = followed[set_]


def _load(
    space: CodeSpace,
    effects: Effects,
    operands: _Operands,
    found: tuple[npt.NDArray[np.uint32], Flags, Flags],
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


def _columns(mask: int) -> Flags:
    """A mask of registers as a row of flags."""
    return np.array([mask >> column & 1 for column in range(_COLUMNS)], dtype=np.bool_)


def _joined(groups: list[_Lanes]) -> _Lanes:
    return _Lanes(
        *(np.concatenate([getattr(lanes, f.name) for lanes in groups]) for f in fields(_Lanes))
    )
