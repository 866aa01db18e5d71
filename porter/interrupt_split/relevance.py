"""The capture slice: statements of a handler that the mid-section needs.

They are those with a captured access, the conditions around them, the jumps that may go past
them, and whatever gives a local its value that one of these looks at.
"""

from __future__ import annotations

from collections.abc import Sequence

from porter.interrupt_split.bits import Values
from porter.interrupt_split.effects import Captured, is_acknowledgement
from porter.interrupt_split.expression import Expr
from porter.interrupt_split.statement import Statement, walk_all

Variable = tuple[int, str]
_JUMPS = frozenset({"return", "break", "continue"})


class Relevance:
    """`needed` locals and relevant statements of one handler."""

    def __init__(self, statements: Sequence[Statement], captured: Captured, values: Values) -> None:
        self._values = values
        self.is_captured = captured
        self.needed: set[Variable] = set()
        self._relevant: set[int] = set()
        order = {id(statement): number for number, statement in enumerate(walk_all(statements))}
        self._last = max(
            (order[id(s)] for s in walk_all(statements) if self.has_access(s)), default=-1
        )
        self._order = order
        before = (-1, -1)
        while before != (len(self.needed), len(self._relevant)):
            before = (len(self.needed), len(self._relevant))
            for statement in statements:
                self._mark(statement)

    def __contains__(self, statement: Statement) -> bool:
        return id(statement) in self._relevant

    def has_access(self, statement: Statement) -> bool:
        """Whether an expression of the statement's own has a captured access."""
        return any(self.is_captured(item) for e in statement.expressions for item in e.walk())

    def has_access_below(self, statement: Statement) -> bool:
        """Whether it or anything below it has one."""
        return any(self.has_access(inner) for inner in statement.walk())

    def goes_past(self, statement: Statement) -> bool:
        """Whether a jump may go past a captured access."""
        return statement.kind in _JUMPS and self._order[id(statement)] < self._last

    def _mark(self, statement: Statement) -> bool:
        children = [self._mark(child) for child in (*statement.body, *statement.other)]
        own = self.has_access(statement) or self._sets_needed(statement)
        jump = statement.kind == "return" and self.goes_past(statement)
        if not (any(children) or own or jump):
            return False
        self._relevant.add(id(statement))
        if any(children) and statement.expr is not None and not self._is_hidden(statement):
            self._need(statement.expr)
        for expression in statement.expressions:
            for item in expression.walk():
                if is_acknowledgement(item) and item.value is not None:
                    self._need(item.value)
                if item.kind in ("and", "or", "choice") and self._guards_access(item):
                    self._need(item.parts[0])
                if item.kind == "set" and item.variable in self.needed and item.value is not None:
                    self._need(item.value)
        for local in statement.locals:
            if local.variable in self.needed and local.value is not None:
                self._need(local.value)
        return True

    def _is_hidden(self, statement: Statement) -> bool:
        """Whether only the VM can decide: then both ways must do the same, whatever it says."""
        condition = statement.expr if statement.kind == "if" else None
        return condition is not None and self._values.what_hides(condition) is not None

    def _guards_access(self, expr: Expr) -> bool:
        return any(self.is_captured(item) for part in expr.parts[1:] for item in part.walk())

    def _sets_needed(self, statement: Statement) -> bool:
        if any(local.variable in self.needed for local in statement.locals):
            return True
        return any(
            item.kind == "set" and item.variable in self.needed
            for expression in statement.expressions
            for item in expression.walk()
        )

    def _need(self, expr: Expr) -> None:
        for item in expr.walk():
            if item.kind in ("local", "set"):
                self.needed.add(item.variable)
