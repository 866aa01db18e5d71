"""May a captured access go before all else that the handler does?

It does not matter for a read or an acknowledgement that it comes earlier than work on memory. It
may matter that it comes earlier than a write to the device, or than a call that may do one; and an
acknowledgement after a call of its own cause tells the device that the cause was served.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from porter.interrupt_split.effects import (
    Captured,
    Cleared,
    cleared_by,
    is_acknowledgement,
    is_consuming_read,
)
from porter.interrupt_split.expression import ALL_BITS, Expr, peeled
from porter.interrupt_split.refusal import At
from porter.interrupt_split.statement import Statement

Path = tuple[tuple[int, int], ...]
"""The branches around a statement: which statement, which arm."""

# What an RTOS wants to be told at the start of a handler.
_ENTERS = re.compile(
    r"\w*[Ii]nt(errupt)?_?[Ee]nter\w*|\w*ISR_?ENTER\w*|\w*ENTER_?ISR\w*|taskENTER_\w*|"
    r"\w*PROLOGUE|\w*[Ll]ock\w*F(ro)?m_?ISR|__DSB|__ISB|__DMB"
)


Writes = Callable[[str], "frozenset[str] | None"]
"""Registers that a function may write by its name; None: any, or there is no source of it."""


@dataclass(frozen=True)
class _Event:
    """Something that stays in the VM. `written`: registers with the bits that may change; None:
    whatever there is."""

    path: Path
    line: int
    what: str
    written: Mapping[str, int] | None


class Order:
    """Checks one handler. `sensitive`: registers that are read early, with the bits that matter."""

    def __init__(self, captured: Captured, sensitive: Mapping[str, int], writes: Writes) -> None:
        self._captured = captured
        self._sensitive = sensitive
        self._writes = writes
        self._events: list[_Event] = []
        self._cleared: list[tuple[Path, Cleared]] = []

    def check(self, statements: Sequence[Statement], path: Path = ()) -> None:
        """Raises At for an access that must not go first."""
        for statement in statements:
            for expression in statement.expressions:
                for item in _in_order(expression):
                    if self._captured(item):
                        self._check_access(item, path)
                        if is_consuming_read(item) or is_acknowledgement(item):
                            self._cleared.append((path, cleared_by(item)))
                    elif (event := self._event(item, path)) is not None:
                        self._events.append(event)
            branches = statement.kind in ("if", "while", "switch", "case")
            inner = (*path, (id(statement), 0)) if branches else path
            self.check(statement.body, inner)
            self.check(statement.other, (*path, (id(statement), 1)))

    def _event(self, item: Expr, path: Path) -> _Event | None:
        if item.kind == "asm":
            raise At(item.line, f"{item.name}: what it does with the device isn't known")
        if item.kind == "hardware" and item.indirect:
            raise At(
                item.line,
                f"{item.name or item.text.strip()} reaches registers through a pointer that isn't "
                "known here: name the device",
            )
        if item.kind == "write" and item.register is not None:
            written = {item.register.name: _changed(item)}
            if item.register.kind.effect == "data":
                written = {}  # what is sent has nothing to do with what came
            return _Event(path, item.line, f"the write {item.text.strip()}", written)
        if item.kind != "call" or _ENTERS.fullmatch(item.name):
            return None
        if item.indirect:
            return _Event(path, item.line, f"the call through {item.name}", None)
        names = self._writes(item.name)
        known = None if names is None else dict.fromkeys(names, ALL_BITS)
        return _Event(path, item.line, f"{item.name}()", known)

    def _check_access(self, item: Expr, path: Path) -> None:
        for event in self._events:
            inside = event.path[: len(path)] == path
            before = path[: len(event.path)] == event.path
            if (inside or before) and self._interferes(event, always=before):
                raise At(
                    item.line,
                    f"{item.text.strip()} comes after {event.what} in line {event.line}, which "
                    "may write to the device: do it first",
                )
            late = is_acknowledgement(item) and not self._is_redundant(item, path)
            if late and inside and event.what.endswith("()"):
                raise At(
                    item.line,
                    f"{item.text.strip()} acknowledges after {event.what} in line {event.line}: "
                    "acknowledge first if the order doesn't matter",
                )

    def _is_redundant(self, item: Expr, path: Path) -> bool:
        """An acknowledgement of what a read before it has cleared: as early as that read."""
        wanted = cleared_by(item)
        before = 0
        for where, cleared in self._cleared:
            if cleared.status == wanted.status and path[: len(where)] == where:
                before |= cleared.bits or 0
        return wanted.bits is not None and not wanted.bits & ~before

    def _interferes(self, event: _Event, always: bool) -> bool:
        """Whether what is read early could come out differently. `always`: the event is no
        matter of another cause."""
        if event.written is None:
            return True
        if always and event.written:
            return True
        return any(bits & self._sensitive.get(name, 0) for name, bits in event.written.items())


def _changed(write: Expr) -> int:
    """The bits that a write may change."""
    value = peeled(write.value) if write.value is not None else None
    if value is not None and value.kind == "const":
        if write.operator == "|=":
            return value.number & ALL_BITS
        if write.operator == "&=":
            return ~value.number & ALL_BITS
    return ALL_BITS


def _in_order(expr: Expr) -> list[Expr]:
    """Parts before what uses them."""
    found: list[Expr] = []
    for part in expr.parts:
        found += _in_order(part)
    return [*found, expr]
