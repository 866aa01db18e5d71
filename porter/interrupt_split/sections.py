"""Which statement of a handler is in which section, and why: for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from porter.interrupt_split.capture import Field
from porter.interrupt_split.expression import Expr
from porter.interrupt_split.relevance import Relevance
from porter.interrupt_split.statement import Statement

SectionName = Literal["top", "middle", "bottom"]


@dataclass(frozen=True)
class Section:
    """A line of the handler. What the middle decides by, the bottom decides by again."""

    line: int
    section: SectionName
    why: str


def sections(
    statements: Sequence[Statement],
    relevance: Relevance | None,
    captured: Mapping[int, Field],
    device: str,
) -> list[Section]:
    """One entry a line, in order; everything is bottom without a slice."""
    found: dict[int, Section] = {}
    for section in _all(statements, relevance, captured, device):
        known = found.get(section.line)
        if known is None or (known.section == "bottom" and section.section == "middle"):
            found[section.line] = section
    return [found[line] for line in sorted(found)]


def _all(
    statements: Sequence[Statement],
    relevance: Relevance | None,
    captured: Mapping[int, Field],
    device: str,
) -> Iterator[Section]:
    for statement in statements:
        if statement.kind not in ("block", "case") or statement.expressions:
            middle = relevance is not None and statement in relevance
            why = _in_middle(statement, captured) if middle else ""
            if why:
                yield Section(statement.line, "middle", why)
            else:
                yield Section(statement.line, "bottom", _in_bottom(statement, device))
        children = (*statement.body, *statement.other)
        yield from _all(children, relevance, captured, device)


def _in_middle(statement: Statement, captured: Mapping[int, Field]) -> str:
    words: list[str] = []
    for expression in statement.expressions:
        for item in expression.walk():
            field = captured.get(id(item))
            if field is not None:
                words.append(f"reads {field.name} into the record")
            elif item.kind == "write" and _acknowledges(item):
                words.append(f"acknowledges by {item.register.name if item.register else ''}")
    if statement.kind in ("if", "while", "switch") and not words:
        words.append("decides by what was captured")
    if statement.kind == "do":
        words.append("one round")
    if statement.kind == "while":
        words.append("one round: the line comes again for the next")
    if statement.kind == "inline":
        words.append(f"calls {statement.callee.name if statement.callee else ''}, see there")
    if statement.kind == "return":
        words.append("ends both sections")
    if statement.kind in ("declaration", "expression") and not words:
        words.append("a value that the middle decides by")
    return ", ".join(dict.fromkeys(words))


def _acknowledges(item: Expr) -> bool:
    return item.register is not None and item.register.kind.effect in ("ack", "status")


def _in_bottom(statement: Statement, device: str) -> str:
    items = [item for expression in statement.expressions for item in expression.walk()]
    if any(item.kind == "write" for item in items):
        return f"controls {device}, which only the VM does"
    if any(item.kind == "read" for item in items):
        return f"looks at {device} as it is then"
    if any(item.kind == "call" for item in items):
        return "calls into the firmware"
    if any(item.kind == "memory" for item in items):
        return "works on the VM's memory"
    return "computes"
