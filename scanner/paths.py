"""How control comes to a place: one path for each, with as few calls as there can be."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from scanner.decode.code_map import CodeMap
from scanner.decode.code_space import CodeSpace
from scanner.decode.flow_graph import FlowGraph
from scanner.decode.instruction_set import Flow, InstructionSet
from scanner.decode.marks import Marks
from scanner.image.symbols import SymbolTable

Way = Literal["entry", "vector", "symbol", "call", "jump"]
"""By what control comes to a place: it starts there, as something says, or goes there."""

_LONGEST = 1000
"""A path of more jumps and calls is told to nobody."""

_State = tuple[int, int]
"""A node, and the index at which control enters its stretch of instructions."""


@dataclass(frozen=True)
class Hop:
    """Control starts at `index`, or goes there from the instruction at `source`."""

    way: Way
    index: int
    source: int | None = None


def paths(
    space: CodeSpace,
    isa: InstructionSet,
    code: CodeMap,
    symbols: SymbolTable | None,
    entries: Sequence[int],
    wanted: Iterable[int],
    avoided: Marks,
) -> dict[int, tuple[Hop, ...]]:
    """For each wanted index that a path is known to the hops that lead there.

    Entries and vector tables come first. What is only reached from other functions is told from one
    that nothing is known to call. No path goes through what is `avoided`.
    """
    graph = code.graph
    if graph is None:
        return {}
    search = _Search(space, isa, graph, set(wanted), avoided)
    search.start("entry", _places(space, isa, entries))
    search.start("vector", _places(space, isa, isa.vectors(space)))
    search.run()
    if search.left and symbols is not None:
        begins = _places(space, isa, symbols.functions()[0].tolist())
        search.start("symbol", _uncalled(graph, code, begins, avoided))
        search.run()
        search.start("symbol", begins)
        search.run()
    return search.found


def _uncalled(graph: FlowGraph, code: CodeMap, begins: Sequence[int], avoided: Marks) -> list[int]:
    """The functions to whose begin nothing goes but they themselves, and what is avoided."""
    rows = np.flatnonzero(code.certain[graph.indices] & ~avoided[graph.indices])
    sources, targets = graph.indices[rows], graph.targets[rows]
    edges = np.array([-1, *begins])
    others = edges[np.searchsorted(edges, sources, "right") - 1] != targets
    called = set(np.unique(targets[others]).tolist())
    return [begin for begin in begins if begin not in called]


def _places(space: CodeSpace, isa: InstructionSet, pointers: Sequence[int]) -> list[int]:
    """The halfwords that code pointers mean, in order."""
    found = space.indices(isa.code_addresses(np.array(pointers, dtype=np.int64)))
    places: list[int] = np.unique(found[found >= 0]).tolist()
    return places


@dataclass
class _Search:
    """From all starts together, a call at a time; `left` are places not come to yet."""

    space: CodeSpace
    isa: InstructionSet
    graph: FlowGraph
    left: set[int]
    avoided: Marks
    found: dict[int, tuple[Hop, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        graph = self.graph
        self._queue: deque[tuple[_State, _State | None, Hop | None]] = deque()
        self._before: dict[_State, tuple[_State | None, Hop | None]] = {}
        self._lowest: dict[int, int] = {}
        self._in_node: dict[int, list[int]] = {}
        for index in sorted(self.left):
            if graph.starts.has(index):
                self._in_node.setdefault(graph.node_of_one(index), []).append(index)
            else:
                self.left.discard(index)  # inside of another instruction: nobody would follow it

    def start(self, way: Way, places: Iterable[int]) -> None:
        """Begin at more places."""
        for index in places:
            if self.graph.starts.has(index):
                state = self.graph.node_of_one(index), index
                self._queue.append((state, None, Hop(way, index)))

    def run(self) -> None:
        """Go on until all is found, or nothing more can be."""
        while self._queue and self.left:
            state, before, hop = self._queue.popleft()
            node, index = state
            if index >= self._lowest.get(node, len(self.space)) or self.avoided.has(index):
                continue
            self._lowest[node] = index
            # Who only goes on comes by the hop of the one before, so that paths are walked quickly.
            goes_on = before is not None and hop is None
            self._before[state] = self._before[before] if goes_on and before else (before, hop)
            for wanted in self._in_node.get(node, ()):
                if index <= wanted and wanted in self.left:
                    self.left.discard(wanted)
                    self.found[wanted] = self._told(state)
            self._go_on(state)

    def _go_on(self, state: _State) -> None:
        graph, node = self.graph, state[0]
        kind, place = int(graph.kinds[node]), int(graph.indices[node])
        calls = kind in (Flow.CALL, Flow.COMPUTED_CALL)
        if graph.falls[node] and node + 1 < len(graph.kinds):
            behind = place + 1 + int(self.isa.wide[self.space.halfwords[place]])
            self._queue.appendleft(((graph.node_of_one(behind), behind), state, None))
        targets = [int(graph.targets[node])]
        if kind >= Flow.COMPUTED:
            places = np.array([place], dtype=np.intp)
            targets = list(self.isa.computed_targets(self.space, graph.starts, places))
        for target in targets:
            if target >= 0 and graph.starts.has(target):
                hop = Hop("call" if calls else "jump", target, place)
                there = (graph.node_of_one(target), target), state, hop
                (self._queue.append if calls else self._queue.appendleft)(there)

    def _told(self, state: _State) -> tuple[Hop, ...]:
        hops: list[Hop] = []
        at: _State | None = state
        while at is not None and len(hops) < _LONGEST:
            at, hop = self._before[at]
            if hop is not None:
                hops.append(hop)
        return tuple(reversed(hops)) if at is None else ()
