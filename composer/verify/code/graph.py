"""The states of a function and what follows each."""

from __future__ import annotations

from dataclasses import dataclass, field

from composer.verify.code.state import State


@dataclass
class Graph:
    """`edges`: what follows a state, and after how many instructions; `ends`: the cost of one
    that nothing follows; `last`: behind these the chip resets, whatever the code does."""

    edges: dict[State, list[tuple[State, int]]] = field(default_factory=dict)
    ends: dict[State, int] = field(default_factory=dict)
    last: set[State] = field(default_factory=set)


def longest_way(graph: Graph, start: State) -> tuple[int | None, int | None]:
    """Instructions of the longest way from `start`; or None, and an address on a cycle."""
    done: dict[State, int] = {}
    on_path: set[State] = set()
    stack: list[tuple[State, int]] = [(start, 0)]
    while stack:
        state, position = stack.pop()
        edges = [] if state in graph.last else graph.edges.get(state, [])
        if position == 0:
            on_path.add(state)
        while position < len(edges) and edges[position][0] in done:
            position += 1
        if position < len(edges):
            following = edges[position][0]
            if following in on_path:
                return None, following.pc
            stack += [(state, position + 1), (following, 0)]
            continue
        on_path.discard(state)
        ways = [cost + done[after] for after, cost in edges]
        done[state] = max([graph.ends.get(state, 0), *ways])
    return done[start], None
