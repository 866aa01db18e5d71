"""All transcribed functions of one file as C, in the order of the file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from porter.context_switch.arms import Arm, Transcribed
from porter.context_switch.c_function import Writer
from porter.context_switch.conditional_text import under_conditions
from porter.context_switch.fast_yield import FastYield, fast_yield
from porter.context_switch.handler import Handler, publish_name
from porter.context_switch.ir import Guest
from porter.context_switch.lift_state import NOTHING
from porter.context_switch.lost_numbers import asks_exception
from porter.context_switch.names import Names
from porter.context_switch.result import ROLE_CALL, ROLE_START, ROLE_SVC, ROLE_SWITCH
from porter.context_switch.structure import conditions_and_statements
from porter.project.vectors import Vectors


@dataclass(frozen=True)
class Part(Transcribed):
    """Where it begins, its name in C, the lines in front of its body."""

    start: int
    name: str
    head: tuple[str, ...]


@dataclass(frozen=True)
class FileText:
    """`blocks` has the lines that stand for each part, by its start; `slow` says why there is no
    `fast` yield although a handler's frame is one that a yield builds."""

    blocks: dict[int, list[str]]
    fast: FastYield | None
    slow: str = ""

    def reason(self, handler: Handler) -> str:
        """What a report says of a handler."""
        reason = f"{handler.instructions} instructions transcribed"
        if handler.role == ROLE_CALL:
            reason += "; what is written to the caller's frame is lost"
        if asks_exception(handler.nodes):
            reason += "; IPSR is 0 or 1, no number"
        if _masks_level(handler):
            reason += "; BASEPRI is one mask, of what the description calls maskable, at any level"
        if handler.role == ROLE_SWITCH:
            if self.fast is not None and handler is self.fast.home:
                reason += f", {self.fast}"
            else:
                reason += f"; no fast yield: {self.slow or self._elsewhere}"
        return reason

    @property
    def _elsewhere(self) -> str:
        """Whose the one yield of a file is."""
        return f"yields come to {self.fast.home.symbol}()" if self.fast is not None else ""


def _masks_level(handler: Handler) -> bool:
    guests = (it for it in conditions_and_statements(handler.nodes) if isinstance(it, Guest))
    return any(it.function == "virt_int_mask" and "VIRT_BASEPRI" in it.arguments for it in guests)


def _arm(arm: Arm, body: Callable[[Handler], list[str]]) -> list[str]:
    if isinstance(arm.handler, Handler):
        return body(arm.handler)
    return ["{", f"#error {arm.handler.splitlines()[0]}", "}"]


def _first(part: Part, writer: Writer) -> Sequence[str]:
    """What the start of the first task leaves to VCT, under the conditions of its arms."""
    found = {variable: None for handler in part.handlers() if handler.first is not None
             for variable in handler.first.variables}  # fmt: skip
    own = [writer.define(*variable) for variable in found]
    name = f"{part.name}_first"
    head = ["/* In VCT, where a task's registers can be set. */",
            f"static {writer.signature(name, NOTHING)}"]  # fmt: skip

    def lines(handler: Handler | str) -> tuple[str, ...]:
        if isinstance(handler, str) or handler.first is None:
            return ()
        body = writer.body(Handler(name, ROLE_SVC, handler.first.statements, "", 0))
        return (*head, *body, "")

    texts = [(arm.choices, lines(arm.handler)) for arm in part.arms]
    text = under_conditions(texts) if texts else lines(part.handler)
    return [*own, *([""] if own else []), *text]


def write_parts(parts: Sequence[Part], writer: Writer, names: Names, vectors: Vectors) -> FileText:
    """The text, with declarations in front of the first function that needs them; `vectors`
    say which exceptions they serve."""
    for handler in (each for part in parts for each in part.handlers()):
        writer.look_at(handler)
    starts = [part for part in parts if part.handler.role == ROLE_START]
    functions = [(part.name, part.handler) for part in parts]
    arms = {part.name: tuple(part.handlers()) for part in parts}
    found = fast_yield(functions, names, vectors, arms, bool(starts))
    fast = found if isinstance(found, FastYield) else None
    first = fast.registration(writer) if fast is not None else ()
    blocks: dict[int, list[str]] = {}
    named = fast is not None and fast.names_itself

    def body(handler: Handler) -> list[str]:
        handler = handler if named else publish_name(handler)
        return writer.body(handler, first if handler.role == ROLE_START else ())

    for part in parts:
        if any(handler.first is not None for handler in part.handlers()):
            part = replace(part, head=(*_first(part, writer), *part.head))
        text = [(arm.choices, tuple(_arm(arm, body))) for arm in part.arms]
        lines = [*part.head, *(under_conditions(text) if text else body(part.handler))]
        if fast is not None and part.handler is fast.home:
            lines += fast.behind(writer)
        blocks[part.start] = lines
    if externs := writer.externs():
        place = min(blocks)
        blocks[place] = [*externs, "", *blocks[place]]
    return FileText(blocks, fast, found) if isinstance(found, str) else FileText(blocks, fast)
