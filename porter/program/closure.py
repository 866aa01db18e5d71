"""All that some things lead to, step by step."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

T = TypeVar("T", bound=Hashable)


def closure(first: Iterable[T], following: Callable[[T], Iterable[T]]) -> set[T]:
    """These and what follows from them, be it by others."""
    seen = set(first)
    waiting = list(seen)
    while waiting:
        for new in following(waiting.pop()):
            if new not in seen:
                seen.add(new)
                waiting.append(new)
    return seen
