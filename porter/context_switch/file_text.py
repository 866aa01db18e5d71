"""All transcribed functions of one file as C, in the order of the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from porter.context_switch.c_function import Writer
from porter.context_switch.fast_yield import FastYield, fast_yield, pick_text
from porter.context_switch.handler import Handler, publish_name
from porter.context_switch.names import Names
from porter.context_switch.pick import Pick
from porter.context_switch.result import ROLE_START, ROLE_SWITCH


@dataclass(frozen=True)
class Part:
    """A function: where it begins, its name in C, the lines in front of its body."""

    start: int
    name: str
    head: tuple[str, ...]
    handler: Handler


@dataclass(frozen=True)
class FileText:
    """`blocks` has the lines that stand for each part, by its start."""

    blocks: dict[int, list[str]]
    fast: FastYield | None

    def reason(self, handler: Handler) -> str:
        """What a report says of a handler."""
        reason = f"{handler.instructions} instructions transcribed"
        if handler.role == ROLE_SWITCH:
            if self.fast is not None and handler is self.fast.home:
                reason += f", fast yield through {self.fast.through}()"
            else:
                why = handler.pick if isinstance(handler.pick, str) else "no first-task start here"
                reason += f"; no fast yield: {why}"
        return reason


def write_parts(parts: Sequence[Part], writer: Writer, names: Names) -> FileText:
    """The text, with declarations in front of the first function that needs them."""
    starts = [part for part in parts if part.handler.role == ROLE_START]
    fast = fast_yield([(part.name, part.handler) for part in parts], names) if starts else None
    first = fast.registration(writer) if fast is not None else ()
    blocks: dict[int, list[str]] = {}
    for part in parts:
        named = fast is not None and fast.names_itself
        handler = part.handler if named else publish_name(part.handler)
        starts_here = handler.role == ROLE_START
        lines = [*part.head, *writer.body(handler, first if starts_here else ())]
        if fast is not None and part.handler is fast.home and fast.function is not None:
            assert isinstance(handler.pick, Pick)
            lines = [*pick_text(writer, fast.function, handler.pick), "", *lines]
        blocks[part.start] = lines
    if fast is not None and fast.function is not None:
        place = min(part.start for part in starts)
        home = next(part.start for part in parts if part.handler is fast.home)
        pick = fast.home.pick
        if place < home and isinstance(pick, Pick):
            declaration = writer.pick_signature(fast.function, pick) + ";"
            blocks[place] = [declaration, "", *blocks[place]]
    if externs := writer.externs():
        place = min(blocks)
        blocks[place] = [*externs, "", *blocks[place]]
    return FileText(blocks, fast)
