"""What a function may come to by its calls: through C, assembler, other names and pointers.

The only closure of calls: whatever a handler's callees are asked for is asked along these roads.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from porter.context_switch.bodies import Body
from porter.context_switch.c_nodes import calls_in
from porter.context_switch.calls import Calls, Unless, all_of
from porter.source.c_tree import Node

Taking = Callable[[int | None], list[str]]
"""Functions that a call through a pointer may come to, by how many arguments it has."""


class Made(Protocol):
    """What is known of each function by itself."""

    def of(self, name: str, unless: Unless | None = None) -> Calls:
        """Where it goes, but for calls in C that don't count."""

    def within(self, node: Node) -> Calls:
        """Where a part of a function in C goes."""

    def by(self, call: Node) -> Calls:
        """Where a call in C goes."""

    def body(self, name: str) -> Body:
        """What the project has of it."""


@dataclass(frozen=True)
class Reached:
    """A function that some calls may come to. `road`: how, for a person."""

    name: str
    road: str
    body: Body


class Callees:
    """Follows calls through a project."""

    def __init__(self, made: Made, taking: Taking) -> None:
        self._made, self._taking = made, taking

    def of(self, called: Iterable[str], unless: Unless | None = None) -> Iterator[Reached]:
        """Each function that calls of these may come to, themselves among them; not by calls in C
        that don't count."""
        return self._follow(Calls(frozenset(called)), list(called), unless)

    def within(self, *parts: Node) -> Iterator[Reached]:
        """Each function that calls in parts of functions in C may come to."""
        return self._follow(all_of(map(self._made.within, parts)), [], None)

    def names_in(self, name: str) -> frozenset[str]:
        """What a function calls by name."""
        return self._made.of(name).names

    def by_pointers(self, names: Collection[str], part: Node) -> Iterator[Node]:
        """Calls in a part of C that name none of these and may come to one."""
        for call, called in calls_in(part) if names else ():
            if called.decode("latin-1") not in names and not self.by(call).isdisjoint(names):
                yield call

    def by(self, call: Node) -> frozenset[str]:
        """What a call in C may come to at once."""
        made = self._made.by(call)
        return made.names.union(*map(self._taking, made.pointers))

    def calls_by_pointers(self, name: str) -> bool:
        """Whether a function calls what may be anything."""
        return bool(self._made.of(name).pointers)

    def calls_nobody_knows(self, part: Node) -> bool:
        """Whether there are calls through pointers to functions of which none has its address
        taken."""
        return any(not self._taking(it) for it in self._made.within(part).pointers)

    def _follow(self, start: Calls, first: list[str], unless: Unless | None) -> Iterator[Reached]:
        way: dict[str, str] = {}  # and who leads there
        pointers: set[int | None] = set()
        waiting: list[str] = []

        def go(calls: Calls, by: str) -> None:
            names = sorted(calls.names)
            for count in sorted(calls.pointers - pointers, key=str):
                pointers.add(count)
                names += self._taking(count)
            for name in names:
                if name not in way:
                    way[name] = by
                    waiting.append(name)

        for name in first:
            go(Calls(frozenset({name})), "")
        go(start, "")
        while waiting:
            name = waiting.pop(0)
            yield Reached(name, _road(name, way), self._made.body(name))
            go(self._made.of(name, unless), name)


def _road(name: str, way: dict[str, str]) -> str:
    first = name
    while way[first]:
        first = way[first]
    return f"calls {first}()" + (f", which leads to {name}()" if name != first else "")
