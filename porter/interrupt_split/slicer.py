"""Takes the capture slice out of a handler: the steps of the mid-section and the record."""

from __future__ import annotations

from collections.abc import Sequence

from porter.interrupt_split.around import Around, Guard
from porter.interrupt_split.capture import (
    Assign,
    Block,
    Case,
    If,
    Leave,
    Node,
    Switch,
    shape,
)
from porter.interrupt_split.expression import Expr
from porter.interrupt_split.refusal import At
from porter.interrupt_split.slice_expression import ExpressionSlicer
from porter.interrupt_split.statement import Statement, walk_all


class Slicer(ExpressionSlicer):
    """The steps for statements."""

    def slice(self, statements: Sequence[Statement]) -> list[Node]:
        """The steps. Raises At for a handler that can't be split."""
        return self._all(statements, Around())

    # --- statements ------------------------------------------------------------------------

    def _all(self, statements: Sequence[Statement], around: Around) -> list[Node]:
        out: list[Node] = []
        for statement in statements:
            if statement in self.relevance:
                self._one(statement, out, around)
        return out

    def _one(self, statement: Statement, out: list[Node], around: Around) -> None:
        match statement.kind:
            case "block":
                out += self._scoped(statement, self._all(statement.body, around))
            case "inline":
                self._inline(statement, out, around)
            case "declaration":
                self._declaration(statement, out, around)
            case "expression":
                if statement.expr is not None:
                    self.reads(statement.expr, out, around, statement, wanted=False)
            case "if":
                self._if(statement, out, around)
            case "while" | "do":
                self._loop(statement, out, around)
            case "switch":
                self._switch(statement, out, around)
            case "return":
                if statement.expr is not None:
                    self.reads(statement.expr, out, around, statement, wanted=False)
                if self.relevance.goes_past(statement):
                    out.append(Leave(statement.line))
            case "for":
                raise At(
                    statement.line,
                    "a for loop around reads or acknowledgements: a mid-section has no loops; "
                    "serve one cause a run, the line comes again",
                )
            case _:
                raise At(statement.line, f"{statement.what or statement.kind} around a read or an "
                         "acknowledgement of the device: write it with if and else")  # fmt: skip

    @staticmethod
    def _scoped(statement: Statement, nodes: list[Node]) -> list[Node]:
        declares = any(isinstance(node, Assign) and node.type for node in nodes)
        return [Block(statement.line, nodes)] if declares else nodes

    def _inline(self, statement: Statement, out: list[Node], around: Around) -> None:
        callee = statement.callee
        body = statement.body
        if callee is not None and not callee.is_macro and body and body[-1].kind == "return":
            body = body[:-1]  # where it ends anyway
        if any(inner.kind == "return" and inner in self.relevance for inner in walk_all(body)):
            name = callee.name if callee is not None else "the call"
            raise At(statement.line, f"{name} returns early: write its body into the handler")
        out += self._scoped(statement, self._all(body, around))

    def _declaration(self, statement: Statement, out: list[Node], around: Around) -> None:
        for local in statement.locals:
            wanted = local.variable in self.relevance.needed
            if local.value is not None:
                self.reads(local.value, out, around, statement, wanted)
            if wanted:
                self.check_local(statement.line, local.name, local.type, local.value)
                out.append(Assign(statement.line, local.variable, local.type, "=", local.value))

    def _if(self, statement: Statement, out: list[Node], around: Around) -> None:
        condition = statement.expr
        if condition is None:
            raise At(statement.line, "an if without a condition")
        decides = any(child in self.relevance for child in (*statement.body, *statement.other))
        visible = self.is_visible(condition)
        self.reads(condition, out, around, statement, wanted=decides and visible)
        if not decides:
            return
        if not visible:
            out += self._same_both_ways(statement, condition, around)
            return
        body = self._all(statement.body, around.under(condition, True))
        other = self._all(statement.other, around.under(condition, False))
        out.append(If(statement.line, condition, body, other))
        if body and isinstance(body[-1], Leave):
            around.guards = (*around.guards, Guard(condition, False))
        if other and isinstance(other[-1], Leave):
            around.guards = (*around.guards, Guard(condition, True))

    def _same_both_ways(self, statement: Statement, condition: Expr, around: Around) -> list[Node]:
        """A condition that only the VM knows is no obstacle where both ways do the same."""
        count = len(self.fields)
        body = self._all(statement.body, Around(around.guards, dict(around.read)))
        first = self.fields[count:]
        other = self._all(statement.other, Around(around.guards, dict(around.read)))
        second = self.fields[count + len(first) :]
        if shape(body) != shape(other):
            raise self.hidden(statement.line, condition)
        for kept, dropped in zip(first, second, strict=True):
            kept.reads += dropped.reads
            for read in dropped.reads:
                self.captured[id(read)] = kept
            self.fields.remove(dropped)
        return body

    def _loop(self, statement: Statement, out: list[Node], around: Around) -> None:
        """`while (SR & RXNE)`: one round; the line comes again for the next character."""
        condition = statement.expr
        drains = condition is not None and any(
            flag.read.register is not None for flag in self.values.flags(condition)
        )
        if condition is None or not drains or not self.is_visible(condition):
            raise At(
                statement.line,
                "a loop around reads or acknowledgements that doesn't end by a flag of the "
                "device alone: a mid-section has no loops; serve one cause a run",
            )
        jump = next((s for s in statement.walk() if self._jumps_past(statement, s)), None)
        if jump is not None:
            raise At(jump.line, f"{jump.kind} in a loop, before a read or an acknowledgement: "
                     "write the condition around what it skips")  # fmt: skip
        self.once.append(statement)
        if statement.kind == "do":
            out += self._scoped(statement, self._all(statement.body, around))
            return
        self.reads(condition, out, around, statement, wanted=True)
        body = self._all(statement.body, around.under(condition, True))
        out.append(If(statement.line, condition, body, []))

    def _jumps_past(self, loop: Statement, jump: Statement) -> bool:
        if jump.kind not in ("break", "continue"):
            return False
        inner = list(loop.walk())
        return any(self.relevance.has_access(s) for s in inner[inner.index(jump) :])

    def _switch(self, statement: Statement, out: list[Node], around: Around) -> None:
        value = statement.expr
        if value is None or any(child.kind != "case" for child in statement.body):
            raise At(statement.line, "a switch with statements outside its cases")
        visible = self.is_visible(value)
        self.reads(value, out, around, statement, wanted=visible)
        if not visible:
            raise self.hidden(statement.line, value)
        cases: list[Case] = []
        for number, child in enumerate(statement.body):
            jump = next((s for s in child.walk() if self._jumps_past(child, s)), None)
            if jump is not None:
                raise At(jump.line, "break before a read or an acknowledgement of its case: "
                         "write the condition around what it skips")  # fmt: skip
            nodes = self._all(child.body, Around(around.guards, dict(around.read)))
            falls = number + 1 < len(statement.body) and not _ends(child.body)
            cases.append(Case(child.line, child.expr, nodes, falls))
        out.append(Switch(statement.line, value, cases))


def _ends(body: Sequence[Statement]) -> bool:
    if not body:
        return False
    last = body[-1]
    if last.kind == "block":
        return _ends(last.body)
    return last.kind in ("break", "return")
