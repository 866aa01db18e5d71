"""First oracle: original and port side by side in an emulator, from many random states."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from porter.context_switch.proof.bounds import beyond
from porter.context_switch.proof.constants import asked_by
from porter.context_switch.proof.emulate import Emulator
from porter.context_switch.proof.first_task import FirstTasks
from porter.context_switch.proof.image import Image
from porter.context_switch.proof.model import Model
from porter.context_switch.proof.outcome import Broken, Outcome, Stray
from porter.context_switch.proof.result import NotProved, Runs
from porter.context_switch.proof.start import StartEmulator, size_of
from porter.context_switch.proof.states import State
from porter.context_switch.proof.waiting import WaitingEmulator
from porter.context_switch.proof.walk import is_condition, reachable
from porter.context_switch.result import ROLE_START

STATES = 2000  # an index that leads beyond its table (test_bounds) shows behind the 1000th
LEAST = 500  # with less, too little was tried
_INSTRUCTIONS = 800_000  # of both: more would take longer than a handler may
_RARE = 3  # times as many of both, at most, where something hasn't run yet
_EVERY = 50  # states, from one look at what ran to the next
_CONTEXT = (
    *(f"r{number}" for number in range(4, 12)),
    "EXC_RETURN",
    "PSP",
    *(f"s{number}" for number in range(16, 32)),
)


class Pair:
    """An original and its port, ready to run."""

    def __init__(self, original: Image, ported: Image, model: Model) -> None:
        self._model = model
        self._image = original
        variables = original.variables
        kind = StartEmulator if model.goes_to_task else Emulator
        kind = WaitingEmulator if model.waits else kind
        self._asked = asked = asked_by(original)
        self._state: Callable[[int], Any] = lambda seed: State(seed, model, variables, asked)
        self._original: Any = kind(original, model, variables, native=True)
        self._ported: Any = kind(ported, model, variables, native=False)
        self._names: tuple[str, ...] = _CONTEXT
        self._first = FirstTasks()

    def states(self, seeds: int) -> Iterator[Any]:
        """Random ones."""
        return map(self._state, range(seeds))

    def guided(self) -> Iterator[Any]:
        """Some that lead to each end of the original."""
        # z3 takes memory and time to load: only where no random state did.
        from porter.context_switch.proof.guided import guided

        return guided(self._image, self._model, self._asked)

    def outcomes(self, state: Any) -> tuple[Outcome, Outcome] | None:
        """Both runs; None for a state that makes the original access memory that isn't there.
        Raises NotProved where only one of them does something no handler may do."""
        try:
            original = self._original.run(state)
        except Stray:
            return None
        except Broken as problem:
            raise NotProved(f"the original {problem}, {from_state(state)}") from problem
        try:
            ported = self._ported.run(state)
        except Stray as problem:
            where = f"only the port accesses memory that isn't there, {from_state(state)}"
            raise NotProved(f"{where}{self._explained(state)}") from problem
        except Broken as problem:
            raise NotProved(f"the port {problem}, {from_state(state)}") from problem
        self._check_task(original, ported, state)
        if found := difference(original, ported, self._names):
            raise NotProved(f"{found}, {from_state(state)}{self._explained(state)}")
        return original, ported

    def _explained(self, state: Any) -> str:
        """What in the state may be to blame."""
        return "" if self._model.goes_to_task else beyond(self._image, self._model, state)

    def expected(self, ends: frozenset[int]) -> dict[int, tuple[str, bool]]:
        """What of the original has to run, by address: as text, and whether it has two ways.
        `ends` are instructions that went to a task."""
        original = self._image
        is_start, never = self._model.role == ROLE_START, self._model.never_return
        found = reachable(original, is_start, ends, never=never)
        return {
            address: (f"'{it.text}' at +{address - original.entry:#x}", is_condition(it))
            for address, it in found.items()
        }

    def _check_task(self, original: Outcome, ported: Outcome, state: State) -> None:
        if self._model.goes_to_task:
            self._compare_first(original, ported, state)

    def _compare_first(self, original: Outcome, ported: Outcome, state: State) -> None:
        """The task that is resumed first; then neither r4-r11, nor its frame matters any more."""
        if found := self._first.difference(original, ported):
            raise NotProved(f"{found}, {from_state(state)}")
        if original.first is not None:
            size = size_of(original.first)
            frame = original.first.sp - size
            for outcome in (original, ported):
                outcome.context = []
                outcome.memory = self._original.without(outcome.memory, frame, size)

    def finish(self) -> None:
        """What only all states together show."""
        if found := self._first.lost():
            raise NotProved(found)


def compare(
    original: Image, ported: Image, model: Model, states: int = STATES, least: int = LEAST
) -> tuple[Runs, float]:
    """What was compared, and how many instructions the port runs in the mean. Raises NotProved
    with the first difference, with what of the original never ran, or if fewer than `least` states
    led to its end."""
    return compare_pair(Pair(original, ported, model), states, least)


def compare_pair(pair: Pair, states: int, least: int) -> tuple[Runs, float]:
    """The same for a pair of whichever machine. What is rare gets a few times as many states.
    Time plays no part: a slow machine proves what a fast one does."""
    tried = _Tried(pair)
    seen = 0
    for state in pair.states(_RARE * states):
        seen += 1
        tried.run(state)
        if seen % _EVERY:
            continue
        if tried.ran > _RARE * _INSTRUCTIONS:
            break
        enough = (seen >= states or tried.ran > _INSTRUCTIONS) and tried.compared >= least
        if enough and not tried.missing():
            break
    if tried.compared < least:
        raise NotProved(f"only {tried.compared} of {seen} states lead to its end")
    if tried.missing():
        for state in pair.guided():
            tried.run(state)
    pair.finish()
    if missing := tried.missing():
        raise NotProved(missing)
    expected = tried.expected()
    conditions = sum(two_ways for _, two_ways in expected.values())
    return Runs(tried.compared, len(expected), conditions), tried.total / tried.compared


class _Tried:
    """What all runs so far have shown. `total`: instructions of the port, `ran`: of both."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self._steps: set[tuple[int, int]] = set()
        self._ends: set[int] = set()
        self.compared = self.total = self.ran = 0

    def run(self, state: Any) -> None:
        """Both, from one state."""
        if (found := self._pair.outcomes(state)) is not None:
            original, ported = found
            self.compared += 1
            self._steps |= original.steps
            self._ends |= {original.last} if original.first is not None else set()
            self.total += ported.count
            self.ran += original.count + ported.count

    def expected(self) -> dict[int, tuple[str, bool]]:
        """As Pair says."""
        return self._pair.expected(frozenset(self._ends))

    def missing(self) -> str:
        """What of the original hasn't run; "" for nothing."""
        return _missing(self.expected(), self._steps)


def _missing(expected: dict[int, tuple[str, bool]], steps: set[tuple[int, int]]) -> str:
    """What instruction of the original didn't run, or condition didn't go both ways; "" if all."""
    followers = defaultdict(set)
    for here, after in steps:
        followers[here].add(after)
    ran = {after for _, after in steps}
    for address, (where, two_ways) in expected.items():
        if address not in ran:
            return f"no state reaches {where}"
        if two_ways and len(followers[address]) < 2:
            return f"{where} always goes one way"
    return ""


def difference(original: Outcome, ported: Outcome, names: tuple[str, ...] = _CONTEXT) -> str:
    """The first thing in which two outcomes differ; empty if they don't."""
    for number, (one, other) in enumerate(zip(original.events, ported.events, strict=False), 1):
        where = f"at call {number} ({one.name}())"
        if one.name != other.name:
            return f"call {number} is {one.name}() in the original and {other.name}() in the port"
        if one.arguments != other.arguments:
            return f"{where} the arguments are {one.arguments} and {other.arguments}"
        if one.memory != other.memory:
            return f"{where} {_memory_difference(one.memory, other.memory)}"
        if one.masks != other.masks and not other.in_vct:
            return f"{where} the masks are {one.masks} and {other.masks}"
    if len(original.events) != len(ported.events):
        return f"the original makes {len(original.events)} calls and the port {len(ported.events)}"
    for name, first, second in zip(names, original.context, ported.context, strict=False):
        if first != second:
            return f"{name} ends as {first:#x} in the original and {second:#x} in the port"
    if original.memory != ported.memory:
        return f"at the end {_memory_difference(original.memory, ported.memory)}"
    if original.masks != ported.masks:
        return f"the masks end as {original.masks} and {ported.masks}"
    if original.result != ported.result:
        return f"the result is {original.result:#x} and {ported.result:#x}"
    return ""


def _memory_difference(one: bytes, other: bytes) -> str:
    offset = next(index for index in range(len(one)) if one[index] != other[index]) & ~3
    words = [int.from_bytes(data[offset : offset + 4], "little") for data in (one, other)]
    return f"a word of memory is {words[0]:#x} in the original and {words[1]:#x} in the port"


def from_state(state: object) -> str:
    """The registers that a counterexample starts with."""
    return f"from {state}"
