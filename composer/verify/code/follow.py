"""Follows a function over all its paths: how long it can take, what it touches, where it leads.

The states of a function form a graph. If that has no cycle, every run ends, and the longest way
through it, with the longest ways of what it calls, bounds the number of instructions.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Protocol

from composer.verify.code.decode import LR, SP, Decoder, Instruction
from composer.verify.code.effects import Access, Call, Effect, Next
from composer.verify.code.flags import ANY
from composer.verify.code.flow import Flow
from composer.verify.code.graph import Graph, longest_way
from composer.verify.code.state import (
    Notes,
    State,
    entered,
    joined,
    lost_registers,
    merged,
    returns_properly,
)
from composer.verify.code.step import Stepper, Witness
from composer.verify.code.values import (
    Entry,
    Outer,
    Range,
    Stack,
    Value,
    Word,
    born_at,
    common,
    limits,
    ranged,
    united,
)

MAX_STATES = 400_000
"""Of all functions together: mostly a kernel has a twentieth of that, at -Os at times the half."""
MAX_VISITS = 200
"""So many different states at one instruction of a loop are followed: one that takes longer has no
bound that matters to an interrupt."""
MOST_APART = 48
"""With more states at an instruction where no loop begins, what is known is what all have."""
AIRCR, RESET_REQUEST = 0xE000ED0C, 0x05FA0004
_CALLER_SAVED = (0, 1, 2, 3, 12, 14)
_ARGUMENTS = 4


@dataclass(frozen=True)
class Summary:
    """A function for given arguments. `longest`: instructions, None when no bound was found."""

    longest: int | None
    depth: int  # bytes of stack
    returns: bool
    result: Value
    effects: frozenset[Effect]
    problems: frozenset[str]
    own: frozenset[Effect]  # without those of what it calls

    def stores(self) -> list[Access]:
        """Its stores, in the order of the code."""
        stores = [e for e in self.effects if isinstance(e, Access) and e.is_store]
        return sorted(stores, key=lambda access: access.at)

    def calls(self) -> list[Call]:
        """Its calls and those of what it calls, in the order of the code."""
        return sorted((e for e in self.effects if isinstance(e, Call)), key=lambda call: call.at)


class Observer(Witness, Protocol):
    """A witness that is told of calls and of the end of a handler, too."""

    def called(self, state: State, at: int, summary: Summary) -> Notes:
        """What is noted when a function returned to this state."""

    def left(self, state: State, instruction: Instruction) -> None:
        """The handler leaves by this instruction."""


class Follower:
    """Follows functions of one image; equal questions are answered once.

    `merges`: after so many visits of an instruction what is known there is merged, until nothing
    new is learnt; then no bound is looked for. 0: never.
    `excused` are functions whose inside is not looked at, and the bytes of stack that they need.
    """

    def __init__(
        self,
        stepper: Stepper,
        decoder: Decoder,
        code: range,
        merges: int = 0,
        excused: Mapping[int, int] = MappingProxyType({}),
        observer: Observer | None = None,
    ) -> None:
        stepper.witness = self.observer = observer
        self.stepper, self.decoder, self.code = stepper, decoder, code
        self.merges, self.excused = merges, excused
        self._known: dict[tuple[int, tuple[Value, ...]], Summary] = {}
        self._flows: dict[int, Flow] = {}
        self._open: list[int] = []
        self._states = 0

    def handler(
        self, entry: int, specials: Mapping[str, Value], notes: Notes | None = None
    ) -> Summary:
        """An exception handler; it may end with any `bx`, an exception return. With notes, the
        observer goes along."""
        self._open.append(entry)
        walk = _Walk(self, entry, (), specials, ends=_is_exception_return, notes=notes)
        summary = walk.summary()
        self._open.pop()
        return summary

    def function(self, entry: int, arguments: tuple[Value, ...]) -> Summary:
        """A function that is called; arguments that it doesn't read make no difference."""
        live = self.flow(entry).live[entry]
        arguments = tuple(
            _for_callee(number, value) if live >> number & 1 else None
            for number, value in enumerate(arguments)
        )
        key = (entry, arguments)
        if key not in self._known:
            self._open.append(entry)
            self._known[key] = _Walk(self, entry, arguments, {}, ends=lambda _: False).summary()
            self._open.pop()
        return self._known[key]

    def unbounded(self) -> dict[int, int]:
        """Functions followed so far that have a loop without a bound, and the stack they need."""
        found: defaultdict[int, int] = defaultdict(int)
        for (entry, _), summary in self._known.items():
            if any(NO_BOUND in problem for problem in summary.problems):
                found[entry] = max(found[entry], summary.depth)
        return dict(found)

    def flow(self, entry: int) -> Flow:
        """The instructions of a function."""
        if entry not in self._flows:
            self._flows[entry] = Flow(self.decoder, self.code, entry)
        return self._flows[entry]

    def may_go_on(self) -> bool:
        """Whether one more state is followed: a hostile image has no end of them."""
        self._states += 1
        return self._states <= MAX_STATES

    def is_open(self, entry: int) -> bool:
        """Whether a function is being followed already: a recursion."""
        return entry in self._open


NO_BOUND = "no bound was found"
_BASIC_FRAME, _TO_THREAD = 0x10, 0xFFFFFFFD  # ARMv7-M ARM B1.5.8


def _is_exception_return(text: str) -> bool:
    """Of a handler: what is in the register makes `bx` one, and the kernel puts it there."""
    return text.startswith("bx")


def _may_resume(target: Value) -> bool:
    """EXC_RETURN to a thread on PSP, or what can be that."""
    return not isinstance(target, int) or target | _BASIC_FRAME == _TO_THREAD


_NOTHING = Summary(0, 0, True, None, frozenset(), frozenset(), frozenset())


class _Walk:
    """One function."""

    def __init__(
        self,
        follower: Follower,
        entry: int,
        arguments: tuple[Value, ...],
        specials: Mapping[str, Value],
        ends: Callable[[str], bool],
        notes: Notes | None = None,
    ) -> None:
        self._follower = follower
        self._specials = specials
        self._ends = ends
        self._flow = follower.flow(entry)
        start = replace(entered(entry, arguments), notes=notes)
        self._start = start.keeping(self._flow.live[entry])
        self._merges = follower.merges if notes is None else MAX_VISITS
        self._forget()

    def _forget(self) -> None:
        self._graph = Graph()
        self._effects: set[Effect] = set()
        self._problems: set[str] = set()
        self._own: set[Effect] = set()
        self._results: set[Value] = set()
        self._depth = 0
        self._visits: Counter[int] = Counter()
        self._merged: dict[int, State] = {}
        self._jumps: set[tuple[int, int]] = set()  # that the flow doesn't know

    def summary(self) -> Summary:
        """Walk over all states, then measure."""
        self._walk()
        while self._jumps:
            self._flow.learn(self._jumps)
            self._forget()
            self._walk()
        result = _any_of(self._results)
        return Summary(
            longest=self._longest(),
            depth=self._depth,
            returns=bool(self._results),
            result=born_at(result, None) if _is_global(result) else None,
            effects=frozenset(self._effects),
            problems=frozenset(self._problems),
            own=frozenset(self._own),
        )

    def _walk(self) -> None:
        """Group by group, so that all states that come to an instruction are there when it is its
        turn."""
        waiting: defaultdict[int, list[State]] = defaultdict(list)
        group = self._flow.group
        waiting[group[self._start.pc]].append(self._start)
        numbers = [group[self._start.pc]]
        while numbers:
            number = heapq.heappop(numbers)
            states = self._joined(waiting.pop(number))
            while states:
                for after in self._visit(states.pop()):
                    to = group.get(after.pc)
                    if to == number:
                        states.append(after)
                    elif to is not None:
                        if to not in waiting:
                            heapq.heappush(numbers, to)
                        waiting[to].append(after)

    def _visit(self, state: State) -> Iterable[State]:
        """What follows a state that wasn't met before."""
        state = self._merge(state)
        if state in self._graph.edges:
            return
        self._visits[state.pc] += 1
        if not self._follower.may_go_on():
            self._problems.add(f"{NO_BOUND}: too much code to follow at 0x{state.pc:08x}")
            return
        edges = []
        for after, cost in self._after(state):
            if self._flow.knows(state.pc, after.pc):
                edges.append((after.keeping(self._flow.live[after.pc]), cost))
            else:
                self._jumps.add((state.pc, after.pc))
        self._graph.edges[state] = edges
        yield from (after for after, _ in edges)

    def _joined(self, states: list[State]) -> list[State]:
        """The states that come to a group, few at each of its instructions."""
        places: defaultdict[tuple[int, Value, Notes | None], dict[State, None]]
        places = defaultdict(dict)
        for state in states:
            places[state.pc, state.registers[SP], state.notes][state] = None
        few: list[State] = []
        for apart in places.values():
            if len(apart) > MOST_APART:
                known = joined(apart)
                for state in apart:
                    if state != known:
                        self._graph.edges[state] = [(known, 0)]
                few.append(known)
            else:
                few += apart
        return few

    def _merge(self, state: State) -> State:
        """With merging, what is followed more often knows less, until nothing new is learnt.

        So it is with a loop that seems to have no bound: what it does is wanted all the same.
        """
        if self._visits[state.pc] < (self._merges or MAX_VISITS):
            return state
        if not self._merges:
            self._problems.add(f"{NO_BOUND} for a loop at 0x{state.pc:08x}")
        unite = united if self._visits[state.pc] < 2 * self._merges else common
        known = merged(self._merged.get(state.pc, state), state, unite)
        self._merged[state.pc] = known
        return known

    def _longest(self) -> int | None:
        if self._problems or self._merges:
            return None
        longest, cycle = longest_way(self._graph, self._start)
        if cycle is not None:
            self._problems.add(f"{NO_BOUND} for a loop at 0x{cycle:08x}")
        return longest

    def _after(self, state: State) -> list[tuple[State, int]]:
        follower = self._follower
        instruction = follower.decoder.at(state.pc) if state.pc in follower.code else None
        if instruction is None:
            self._problems.add(f"no code of this part at 0x{state.pc:08x}")
            return []
        stepper = follower.stepper
        stepper.effects.clear()
        stepper.specials = self._specials
        following = stepper.step(state, instruction)
        self._own.update(stepper.effects)
        self._effects.update(stepper.effects)
        if any(map(_resets, stepper.effects)):
            self._graph.last.add(state)
        edges: list[tuple[State, int]] = []
        for way in following:
            edges += self._way(state, way, instruction)
        if not edges:
            self._graph.ends.setdefault(state, 1)
        return edges

    def _way(self, state: State, way: Next, instruction: Instruction) -> list[tuple[State, int]]:
        sp = way.state.registers[SP]
        if isinstance(sp, Stack):
            self._depth = max(self._depth, -sp.offset)
        if way.kind == "go":
            return [(way.state, 1)]
        if way.kind == "call":
            return self._call(state, way)
        if way.kind == "leave":
            self._leave(state, way, instruction)
        elif way.kind == "halt":
            return [(way.state, 1)]
        elif way.kind != "trap":
            self._problems.add(f"{way.text} at 0x{state.pc:08x}")
        return []

    def _leave(self, state: State, way: Next, instruction: Instruction) -> None:
        text, empty = instruction.text, way.state.registers[SP] == Stack(0)
        if state.notes is not None and self._follower.observer is not None:
            self._follower.observer.left(way.state, instruction)
        resumes = empty and _may_resume(way.target) and self._ends(text)
        lost = lost_registers(way.state) if way.target == Entry(LR) and empty else []
        if lost and not resumes:
            self._problems.add(f"returns with another {', '.join(lost)} at 0x{state.pc:08x}")
        elif resumes or returns_properly(way.state, way.target):
            self._results.add(way.state.registers[0])
        else:
            self._problems.add(f"a branch to an unknown place at 0x{state.pc:08x}: {text}")

    def _call(self, state: State, way: Next) -> list[tuple[State, int]]:
        target = way.target
        if not isinstance(target, int) or target not in self._follower.code:
            where = f"0x{target:08x}" if isinstance(target, int) else "an unknown address"
            self._problems.add(f"a call of {where} at 0x{state.pc:08x}")
            return []
        arguments = way.state.registers[:_ARGUMENTS]
        call = Call(state.pc, target, arguments)
        self._own.add(call)
        self._effects.add(call)
        if self._follower.is_open(target):
            self._problems.add(f"a recursion at 0x{state.pc:08x}")
            return []
        excused = self._follower.excused.get(target)
        if excused is None:
            called = self._follower.function(target, arguments)
        else:
            called = replace(_NOTHING, depth=excused)
        self._take(way, called)
        cost = 1 + (called.longest or 0)
        if not called.returns:
            self._graph.ends[state] = cost
            return []
        after, observer = _returned(way.state, called), self._follower.observer
        if after.notes is not None and observer is not None:
            after = replace(after, notes=observer.called(after, state.pc, called))
        return [(after, cost)]

    def _take(self, way: Next, called: Summary) -> None:
        """What a call does is done by the caller too."""
        sp = way.state.registers[SP]
        if isinstance(sp, Stack):
            self._depth = max(self._depth, called.depth - sp.offset)
        self._effects |= {_from_callee(effect) for effect in called.effects}
        self._problems |= called.problems


def _resets(effect: Effect) -> bool:
    """Whether the reset of the chip is requested."""
    return (
        isinstance(effect, Access)
        and effect.is_store
        and (effect.place, effect.value) == (AIRCR, RESET_REQUEST)
    )


def _returned(state: State, called: Summary) -> State:
    """After a call: what it may have changed is unknown."""
    for effect in called.effects:
        if not (isinstance(effect, Access) and effect.is_store):
            continue
        if isinstance(effect.place, Outer) and isinstance(effect.place.place, Stack):
            offset = effect.place.place.offset + effect.place.offset
            state = state.store_on_stack(offset, effect.size, None)
    for register in _CALLER_SAVED:
        state = state.put(register, None)
    return replace(state.put_new(0, called.result), flags=ANY, comparison=None)


def _any_of(values: set[Value]) -> Value:
    """What is known of a value that is one of these."""
    if len(values) == 1:
        return next(iter(values))
    bounds = [limits(value) for value in values]
    known = [bound for bound in bounds if bound is not None]
    if not known or len(known) < len(bounds):
        return None
    return ranged(min(low for low, _ in known), max(high for _, high in known))


def _is_global(value: Value) -> bool:
    """Whether a value means the same outside of the function."""
    return isinstance(value, int | Range) or (
        isinstance(value, Word) and isinstance(value.root, int | Range)
    )


def _for_callee(number: int, value: Value) -> Value:
    """A caller's value as a called function sees it."""
    if isinstance(value, Stack):
        return Outer(Stack(0), value.offset)
    if isinstance(value, Outer):
        return Outer(Outer(value.place), value.offset)
    return born_at(value, -number - 1)


def _from_callee(effect: Effect) -> Effect:
    """An access to the caller's frame as the caller sees it."""
    if isinstance(effect, Access) and isinstance(effect.place, Outer):
        place = effect.place.place
        if isinstance(place, Stack):
            return replace(effect, place=Stack(place.offset + effect.place.offset))
        return replace(effect, place=Outer(place.place, place.offset + effect.place.offset))
    return effect
