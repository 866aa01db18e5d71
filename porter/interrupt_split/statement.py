"""Statements of a handler, as far as a split has to tell them apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from porter.interrupt_split.expression import Expr
from porter.source.c_tree import Node

Kind = Literal[
    "block",
    "if",
    "while",
    "do",
    "for",
    "switch",
    "case",
    "expression",
    "declaration",
    "return",
    "break",
    "continue",
    "inline",  # the body of a function or macro that the handler calls
    "other",
]


@dataclass(eq=False)
class Local:
    """A local that a declaration introduces; `type` as the mid-section can write it, else ""."""

    name: str
    type: str
    value: Expr | None
    owner: int

    @property
    def variable(self) -> tuple[int, str]:
        """Identity."""
        return self.owner, self.name


@dataclass(eq=False)
class Statement:
    """`node` is None inside an expansion; [first, last] are its lines."""

    kind: Kind
    line: int
    last: int = 0
    node: Node | None = None
    expr: Expr | None = None  # condition, value or the expression itself
    body: list[Statement] = field(default_factory=list)
    other: list[Statement] = field(default_factory=list)  # else
    locals: list[Local] = field(default_factory=list)
    callee: Callee | None = None
    what: str = ""  # of the kind `other`, for people

    def walk(self) -> Iterator[Statement]:
        """The statement and all below it, in order."""
        yield self
        for child in (*self.body, *self.other):
            yield from child.walk()

    @property
    def expressions(self) -> list[Expr]:
        """Expressions of its own, in order."""
        found = [local.value for local in self.locals if local.value is not None]
        if self.callee is not None:
            return [*found, *self.callee.arguments]
        return found if self.expr is None else [*found, self.expr]


@dataclass(eq=False)
class Callee:
    """What an `inline` statement calls; `call` is the call. `threaded`: a helper of this file
    that nothing else calls, whose own text is edited; else the call is taken out or replaced.
    `arguments`: those that aren't the value of a local of the body."""

    name: str
    call: Expr
    threaded: bool
    is_macro: bool = False
    arguments: list[Expr] = field(default_factory=list)


def walk_all(statements: Sequence[Statement]) -> Iterator[Statement]:
    """All statements, in order."""
    for statement in statements:
        yield from statement.walk()


def accesses(statements: Sequence[Statement]) -> Iterator[tuple[Statement, Expr]]:
    """All expressions of all statements, in order."""
    for statement in walk_all(statements):
        for expression in statement.expressions:
            for item in expression.walk():
                yield statement, item
