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

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.effects import NONE, Constants, Effect, Effects
from scanner.decode.instruction_set import Flags, Flow, Halfwords, Indices, InstructionSet
from scanner.decode.marks import Marks
from scanner.decode.register_files import Operands, RegisterFiles, compute
from scanner.decode.select import previous

_BEFORE, _HALF_STEPS = 8, 48
_MAX_LANES = 1 << 14
_MAX_PARTINGS = 16
"""A constant is followed on no more than so many ways."""

_NONE_OF_THEM, _ALL_OF_THEM = np.uint64(0), ~np.uint64(0)
"""Sets of registers."""


class Accesses(NamedTuple):
    """Rows of accesses in the order in which they were met: LOAD, STORE, GO or SWITCH.

    And of comparisons, by COMPARE or SUBTRACT: what is compared may be no address at all.

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
    """Rows of lanes. A lane is `waiting` before its constant.

    `skips` counts the instructions ahead that may not be run.
    """

    origin: npt.NDArray[np.intp]
    at: Indices
    left: npt.NDArray[np.int32]
    skips: npt.NDArray[np.int32]
    waiting: Flags
    own: Flags
    files: RegisterFiles

    def chosen(self, rows: npt.NDArray[np.intp]) -> _Lanes:
        """Copies of some lanes."""
        return _Lanes(
            self.origin.take(rows),
            self.at.take(rows),
            self.left.take(rows),
            self.skips.take(rows),
            self.waiting.take(rows),
            self.own.take(rows),
            self.files.chosen(rows),
        )

    def joined(self, others: _Lanes) -> _Lanes:
        """These and others behind them."""
        if not len(others.at):
            return self
        return _Lanes(
            np.concatenate([self.origin, others.origin]),
            np.concatenate([self.at, others.at]),
            np.concatenate([self.left, others.left]),
            np.concatenate([self.skips, others.skips]),
            np.concatenate([self.waiting, others.waiting]),
            np.concatenate([self.own, others.own]),
            self.files.joined(others.files),
        )


def follow(
    space: CodeSpace,
    isa: InstructionSet,
    starts: Marks,
    constants: Constants,
    steps: npt.NDArray[np.integer[Any]],
) -> Accesses:
    """Accesses through the constants, each followed for at most its number of instructions."""
    found = [_NO_ACCESSES]
    for begin in range(0, len(constants.indices), _MAX_LANES):
        part = slice(begin, begin + _MAX_LANES)
        following = _Following(space, isa, starts, constants.chosen(part))
        found += following.run(begin, steps[part])
    return Accesses(*(np.concatenate(column) for column in zip(*found, strict=True)))


class _Following:
    def __init__(
        self, space: CodeSpace, isa: InstructionSet, starts: Marks, constants: Constants
    ) -> None:
        self._space, self._isa, self._starts = space, isa, starts
        self._constants = constants
        self._been: set[int] = set()
        self._partings = np.zeros(len(constants.indices), dtype=np.int32)
        self._found: list[Accesses] = []

    def run(self, first: int, steps: npt.NDArray[np.integer[Any]]) -> list[Accesses]:
        """Accesses whose origins count from `first`."""
        lanes = self._beginnings(steps)
        while len(lanes.at):
            lanes = self._step(lanes)
        return [rows._replace(origin=rows.origin + first) for rows in self._found]

    def _beginnings(self, steps: npt.NDArray[np.integer[Any]]) -> _Lanes:
        count = len(self._constants.indices)
        at = self._constants.indices
        for _ in range(_BEFORE):
            before = previous(self._space, self._isa.wide, self._starts, at)
            at = np.where(before >= 0, before, at)
        return _Lanes(
            origin=np.arange(count),
            at=at,
            left=np.where(self._constants.whole, steps, np.minimum(steps, _HALF_STEPS)).astype(
                np.int32
            ),
            skips=np.zeros(count, dtype=np.int32),
            waiting=np.ones(count, dtype=np.bool_),
            own=np.ones(count, dtype=np.bool_),
            files=RegisterFiles.unknown(count),
        )

    def _step(self, lanes: _Lanes) -> _Lanes:
        words = self._space.halfwords
        first, second = words.take(lanes.at), words.take(lanes.at + 1)
        effects = self._isa.effects(first, second, self._space.addresses(lanes.at))
        operands = Operands(lanes.files, effects)
        self._note(lanes, effects, operands)
        maybe = lanes.skips > 0
        compute(self._space, lanes.files, effects, operands, maybe)
        self._begin(lanes, effects)
        lanes.skips = np.maximum(lanes.skips - 1, 0)
        lanes.left -= 1
        kinds, targets, length = self._flows(lanes, first, second)
        parted = self._part(lanes, kinds, targets)
        ends = (kinds == Flow.RETURN) | (kinds == Flow.STOP) | (kinds == Flow.COMPUTED)
        ends = (ends | (kinds == Flow.JUMP)) & ~maybe
        calls = (kinds == Flow.CALL) | (kinds == Flow.COMPUTED_CALL)
        lost = np.where(calls, np.uint64(self._isa.clobbered), _NONE_OF_THEM)
        lost[lanes.waiting & ends] = _ALL_OF_THEM
        lanes.files.forget(lost)
        lanes.at = lanes.at + length
        onward = lanes.waiting | (~ends & (lanes.files.followed != 0))
        onward &= (lanes.left > 0) & self._starts[lanes.at]
        return lanes.chosen(np.flatnonzero(onward)).joined(parted)

    def _begin(self, lanes: _Lanes, effects: Effects) -> None:
        """Make the constant in the lanes that have come to it."""
        rows = np.flatnonzero(lanes.waiting & (lanes.at == self._constants.indices[lanes.origin]))
        if not len(rows):
            return
        origin, target = lanes.origin[rows], effects.target[rows]
        whole = self._constants.whole[origin]
        held = lanes.files.chosen(rows).read(target)
        given = whole | ~held.known
        values = np.where(given, self._constants.values[origin], held.value)
        lanes.files.set(rows, target, values, whole)
        lanes.files.follow(rows, target)
        lanes.waiting[rows] = False

    def _note(self, lanes: _Lanes, effects: Effects, operands: Operands) -> None:
        """Keep the accesses through followed registers, and where those are compared."""
        kept = effects.kind >= Effect.LOAD
        kept &= operands.base.followed | operands.index_followed
        kept |= (effects.kind == Effect.SUBTRACT) & operands.index_followed
        rows = np.flatnonzero(kept)
        if not len(rows):
            return
        target = effects.target[rows]
        stored = lanes.files.chosen(rows).read(target)
        store = effects.kind[rows] == Effect.STORE
        self._found.append(
            Accesses(
                origin=lanes.origin[rows],
                own=lanes.own[rows],
                place=lanes.at[rows],
                kind=effects.kind[rows],
                address=operands.address[rows],
                exact=operands.exact[rows],
                value=stored.value,
                valued=store & stored.exact & (target != NONE),
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
            lanes.skips[rows] = np.maximum(lanes.skips[rows], flows.conditional)
            addresses = self._space.addresses(lanes.at[rows]) + 2 * flows.distance.astype(np.int64)
            direct = (flows.kind >= Flow.JUMP) & (flows.kind <= Flow.CALL)
            targets[rows[direct]] = self._space.indices(addresses[direct])
        return kinds, targets, length

    def _part(self, lanes: _Lanes, kinds: npt.NDArray[np.uint8], targets: Indices) -> _Lanes:
        """Lanes that go where branches, jumps and calls lead."""
        going = ~lanes.waiting & (targets >= 0) & self._starts[targets]
        going &= self._partings[lanes.origin] < _MAX_PARTINGS
        followed, arguments = lanes.files.followed, np.uint64(self._isa.arguments)
        passing = (kinds == Flow.CALL) & (followed & arguments != 0)
        leaving = ((kinds == Flow.JUMP) | (kinds == Flow.BRANCH)) & (followed != 0)
        rows = self._new(lanes, np.flatnonzero(going & (passing | leaving)), targets)
        parted = lanes.chosen(rows)
        parted.at = targets[rows]
        parted.skips[:] = 0
        inside = passing[rows]
        parted.left[inside] //= 2
        parted.own[inside] = False
        parted.files.forget(np.where(inside, ~arguments, _NONE_OF_THEM))
        return parted

    def _new(self, lanes: _Lanes, rows: Indices, targets: Indices) -> Indices:
        """The lanes that part to a target where none of the same origin has been."""
        ways = (lanes.origin[rows] << 32 | targets[rows]).tolist()
        fresh = []
        for number, way in enumerate(ways):
            if way not in self._been:
                self._been.add(way)
                fresh.append(number)
        rows = rows[fresh]
        np.add.at(self._partings, lanes.origin[rows], 1)
        return rows
