"""Where some code goes: what its calls, jumps and branches lead to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from porter.source.c_tree import Node

Unless = Callable[[Node], bool]
"""Says of a call in C that it doesn't count."""


@dataclass(frozen=True)
class Calls:
    """`names`: of functions; `pointers`: how many arguments each call through a pointer has, None
    where nobody can tell."""

    names: frozenset[str] = frozenset()
    pointers: frozenset[int | None] = frozenset()

    def __or__(self, other: Calls) -> Calls:
        return Calls(self.names | other.names, self.pointers | other.pointers)


NOWHERE = Calls()
ANYWHERE = Calls(pointers=frozenset({None}))


def all_of(some: Iterable[Calls]) -> Calls:
    """All of them together."""
    found = NOWHERE
    for calls in some:
        found |= calls
    return found
