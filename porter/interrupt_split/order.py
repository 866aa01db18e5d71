"""May a captured access go before all else that the handler does?

It does not matter for a read or an acknowledgement that it comes earlier than work on memory. It
may matter that it comes earlier than a write to the device, or than a call that may do one; and an
acknowledgement after a call of its own cause tells the device that the cause was served.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from porter.interrupt_split.effects import is_acknowledgement, is_captured_access
from porter.interrupt_split.expression import Expr
from porter.interrupt_split.refusal import At
from porter.interrupt_split.statement import Statement

Path = tuple[tuple[int, int], ...]
"""The branches around a statement: which statement, which arm."""

# What an RTOS wants to be told at the start of a handler.
_ENTERS = re.compile(
    r"\w*[Ii]nt(errupt)?_?[Ee]nter\w*|\w*ISR_?ENTER\w*|\w*ENTER_?ISR\w*|taskENTER_\w*|"
    r"\w*PROLOGUE|\w*[Ll]ock\w*F(ro)?m_?ISR|__DSB|__ISB|__DMB"
)


@dataclass(frozen=True)
class _Event:
    path: Path
    line: int
    what: str
    touches: bool  # it may write to the device


Touches = Callable[[str], bool | None]
"""Whether a function by its name may write to the device; None: there is no source of it."""


def check_order(statements: Sequence[Statement], live: frozenset[str], touches: Touches) -> None:
    """Raises At for an access that must not go first."""
    events: list[_Event] = []
    _check(statements, (), events, live, touches)


def _check(
    statements: Sequence[Statement],
    path: Path,
    events: list[_Event],
    live: frozenset[str],
    touches: Touches,
) -> None:
    for statement in statements:
        for expression in statement.expressions:
            for item in _in_order(expression):
                if is_captured_access(item, live):
                    _check_access(item, path, events)
                else:
                    event = _event(item, path, touches)
                    if event is not None:
                        events.append(event)
        arm = 0 if statement.kind in ("if", "while", "switch", "case") else None
        inner = path if arm is None else (*path, (id(statement), 0))
        _check(statement.body, inner, events, live, touches)
        _check(statement.other, (*path, (id(statement), 1)), events, live, touches)


def _in_order(expr: Expr) -> list[Expr]:
    """Parts before what uses them."""
    found: list[Expr] = []
    for part in expr.parts:
        found += _in_order(part)
    return [*found, expr]


def _event(item: Expr, path: Path, touches: Touches) -> _Event | None:
    if item.kind == "asm":
        raise At(item.line, "inline assembly: what it does with the device isn't known")
    if item.kind == "hardware" and item.indirect:
        raise At(
            item.line,
            f"{item.text.strip()} reaches registers through a pointer that isn't known here: "
            "name the device",
        )
    if item.kind == "write":
        return _Event(path, item.line, f"the write {item.text.strip()}", True)
    if item.kind != "call" or _ENTERS.fullmatch(item.name):
        return None
    if item.indirect:
        return _Event(path, item.line, f"the call through {item.name}", True)
    writes = touches(item.name)
    return _Event(path, item.line, f"{item.name}()", writes is not False)


def _check_access(item: Expr, path: Path, events: Sequence[_Event]) -> None:
    for event in events:
        inside = event.path[: len(path)] == path
        before = path[: len(event.path)] == event.path
        if event.touches and (inside or before):
            raise At(
                item.line,
                f"{item.text.strip()} comes after {event.what} in line {event.line}, which may "
                "write to the device: do it first",
            )
        if is_acknowledgement(item) and inside:
            raise At(
                item.line,
                f"{item.text.strip()} acknowledges after {event.what} in line {event.line}: "
                "acknowledge first if the order doesn't matter",
            )
