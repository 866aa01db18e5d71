"""The loop of an original in which it waits, and what it may not do there."""

from __future__ import annotations

from porter.context_switch.proof.image import Image
from porter.context_switch.proof.model import Model
from porter.context_switch.proof.result import NotProved
from porter.context_switch.proof.thumb import Code
from porter.context_switch.proof.walk import followers

Loop = tuple[frozenset[int], int]
"""Instructions that lead back, and where to."""

MASKED = "waits while it holds interrupts off"
ON_STACK = "waits with words on its own stack"
UNASKED = "doesn't come back to its wait, or not without an effect, where nothing has changed"


def loop_of(image: Image, model: Model) -> Loop:
    """The only loop of an original. NotProved where it has none or more."""
    code = Code(image)
    way: list[int] = []
    done: set[int] = set()
    back: set[tuple[int, int]] = set()

    def visit(address: int, block: tuple[str, ...]) -> None:
        way.append(address)
        for after, inside in followers(code.at(address), block, image, False, model.never_return):
            if after in way:
                back.add((address, after))
            elif after not in done:
                visit(after, inside)
        done.add(way.pop())

    visit(image.entry, ())
    back = {(last, first) for last, first in back if last != first}
    heads = {first for _, first in back}
    if len(heads) != 1:
        raise NotProved(f"has {len(heads)} loops, where one was to wait")
    return frozenset(last for last, _ in back), heads.pop()
