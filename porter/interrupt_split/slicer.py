"""Takes the capture slice out of a handler: the steps of the mid-section and the record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from porter.interrupt_split.bits import Values
from porter.interrupt_split.capture import (
    Assign,
    Block,
    Case,
    Consumed,
    Field,
    If,
    Leave,
    Node,
    Read,
    Switch,
    Write,
    shape,
)
from porter.interrupt_split.device import DeviceRegister
from porter.interrupt_split.effects import cleared_by, is_acknowledgement, is_consuming_read
from porter.interrupt_split.expression import Expr
from porter.interrupt_split.refusal import At
from porter.interrupt_split.relevance import Relevance
from porter.interrupt_split.statement import Statement

Named = Callable[[str], DeviceRegister | None]
"""The register of a name."""


@dataclass(frozen=True)
class Guard:
    """A condition that is true (or false) where a step stands."""

    condition: Expr
    positive: bool


@dataclass
class Around:
    """What is known where a step stands: conditions, and fields that were surely read before."""

    guards: tuple[Guard, ...] = ()
    read: dict[str, Field] = field(default_factory=dict)

    def under(self, condition: Expr, positive: bool) -> Around:
        """Inside a branch."""
        return Around((*self.guards, Guard(condition, positive)), dict(self.read))


@dataclass
class Slicer:
    """Works on one handler. `residual`: something is left that only the VM can serve."""

    relevance: Relevance
    values: Values
    named: Named
    residual: bool
    is_macro: Callable[[str], bool]
    fields: list[Field] = field(default_factory=list)
    captured: dict[int, Field] = field(default_factory=dict)  # by id of the read
    acknowledgements: list[Expr] = field(default_factory=list)
    once: list[Statement] = field(default_factory=list)  # loops that capture once

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
                    self._reads(statement.expr, out, around, statement, wanted=False)
            case "if":
                self._if(statement, out, around)
            case "while" | "do":
                self._loop(statement, out, around)
            case "switch":
                self._switch(statement, out, around)
            case "return":
                if statement.expr is not None:
                    self._reads(statement.expr, out, around, statement, wanted=False)
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
        if any(inner.kind == "return" and inner in self.relevance and inner is not last
               for last in statement.body[-1:] for inner in statement.walk()):  # fmt: skip
            raise At(statement.line, f"{statement.callee.name if statement.callee else 'the call'} "
                     "returns early: write its body into the handler")  # fmt: skip
        out += self._scoped(statement, self._all(statement.body, around))

    def _declaration(self, statement: Statement, out: list[Node], around: Around) -> None:
        for local in statement.locals:
            wanted = local.variable in self.relevance.needed
            if local.value is not None:
                self._reads(local.value, out, around, statement, wanted)
            if wanted:
                self._check_local(statement.line, local.name, local.type, local.value)
                out.append(Assign(statement.line, local.variable, local.type, "=", local.value))

    def _if(self, statement: Statement, out: list[Node], around: Around) -> None:
        condition = statement.expr
        if condition is None:
            raise At(statement.line, "an if without a condition")
        decides = any(child in self.relevance for child in (*statement.body, *statement.other))
        visible = self._is_visible(condition)
        self._reads(condition, out, around, statement, wanted=decides and visible)
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
            raise self._hidden(statement.line, condition)
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
        if condition is None or not drains or not self._is_visible(condition):
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
        self._reads(condition, out, around, statement, wanted=True)
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
        visible = self._is_visible(value)
        self._reads(value, out, around, statement, wanted=visible)
        if not visible:
            raise self._hidden(statement.line, value)
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

    # --- expressions -----------------------------------------------------------------------

    def _reads(
        self, expr: Expr, out: list[Node], around: Around, statement: Statement, wanted: bool
    ) -> None:
        """Steps for what evaluating an expression captures. `wanted`: its value is needed, so
        every register in it goes into the record."""
        if expr.kind == "read":
            if wanted or self.relevance.is_captured(expr):
                self._read(expr, out, around, statement)
            return
        if expr.kind in ("and", "or", "choice"):
            self._short_circuit(expr, out, around, statement, wanted)
            return
        needed = expr.kind == "set" and expr.variable in self.relevance.needed
        acknowledges = is_acknowledgement(expr)
        for part in expr.parts:
            # What is assigned, passed or stored is of no interest to the mid-section.
            inner = wanted and expr.kind in ("pure", "expansion")
            self._reads(part, out, around, statement, inner or needed or acknowledges)
        if needed:
            self._check_local(expr.line, expr.name, "int", expr.value)
            out.append(Assign(expr.line, expr.variable, "", expr.operator, expr.value))
        if acknowledges:
            self._acknowledge(expr, out, around)

    def _short_circuit(
        self, expr: Expr, out: list[Node], around: Around, statement: Statement, wanted: bool
    ) -> None:
        first, *rest = expr.parts
        guarded = any(is_consuming_read(i) or is_acknowledgement(i) for p in rest for i in p.walk())
        if not guarded:
            for part in expr.parts:
                self._reads(part, out, around, statement, wanted)
            return
        self._reads(first, out, around, statement, wanted=True)
        if not self._is_visible(first):
            raise self._hidden(expr.line, first)
        ways: list[list[Node]] = []
        for number, part in enumerate(rest):
            positive = expr.kind != "or" and number == 0
            steps: list[Node] = []
            self._reads(part, steps, around.under(first, positive), statement, wanted)
            ways.append(steps)
        yes, no = (ways[0], ways[1] if len(ways) > 1 else [])
        if expr.kind == "or":
            yes, no = [], ways[0]
        out.append(If(expr.line, first, yes, no))

    def _read(self, expr: Expr, out: list[Node], around: Around, statement: Statement) -> None:
        register = expr.register
        if register is None:
            return
        found = self._new_field(register, expr.line)
        found.reads.append(expr)
        self.captured[id(expr)] = found
        needs = is_consuming_read(expr)
        consumed = self._consumed(expr, out, around) if needs else None
        out.append(Read(expr.line, found))
        around.read[register.plain] = found
        if consumed is not None and not any(_is_certain(step) for step in out):
            out.append(consumed)

    def _new_field(self, register: DeviceRegister, line: int) -> Field:
        taken = {known.name for known in self.fields}
        if self.is_macro(register.name):
            register = replace(register, name=f"{register.name}_value")
        name, number = register.name, 1
        while name in taken:
            number += 1
            name = f"{register.name}_{number}"
        found = Field(name, register, line)
        self.fields.append(found)
        return found

    def _acknowledge(self, expr: Expr, out: list[Node], around: Around) -> None:
        if expr.value is not None and not self._is_visible(expr.value):
            raise At(
                expr.line,
                f"{expr.text} acknowledges what {self._what_hides(expr.value)} says, which the "
                "mid-section can't see: acknowledge constant bits or what was read",
            )
        self.acknowledgements.append(expr)
        consumed = self._consumed(expr, out, around)
        out.append(Write(expr.line, expr))
        if consumed is not None and not any(_is_certain(step) for step in out):
            out.append(consumed)

    # --- was it the cause? -----------------------------------------------------------------

    def _consumed(self, expr: Expr, out: list[Node], around: Around) -> Consumed | None:
        cleared = cleared_by(expr)
        if cleared.bits == 0:
            return None
        flags = [
            flag
            for guard in around.guards
            for flag in self.values.flags(guard.condition, guard.positive)
        ]
        if cleared.status is None or cleared.bits is None:
            if flags or not self.residual:
                return Consumed(expr.line)
        else:
            if any(
                flag.read.register is not None
                and flag.read.register.plain == cleared.status
                and not flag.bits & ~cleared.bits
                for flag in flags
            ):
                return Consumed(expr.line)
            found = around.read.get(cleared.status) or self._status(cleared.status, expr, out)
            if found is not None:
                around.read[cleared.status] = found
                return Consumed(expr.line, found, cleared.bits)
            if not self.residual:
                return Consumed(expr.line)
        raise At(
            expr.line,
            f"{expr.text.strip()}: whether that was the cause isn't known, and the handler also "
            "serves what only the VM can; ask for its flag first",
        )

    def _status(self, name: str, expr: Expr, out: list[Node]) -> Field | None:
        """Read the flags that an unconditional access is about to clear."""
        register = self.named(name)
        if register is None and expr.register is not None and expr.register.plain == name:
            register = expr.register
        if register is None:
            return None
        found = self._new_field(register, expr.line)
        out.append(Read(expr.line, found))
        return found

    # --- what the mid-section can't see ----------------------------------------------------

    def _is_visible(self, expr: Expr) -> bool:
        return self._what_hides(expr) is None

    def _what_hides(self, expr: Expr, seen: frozenset[tuple[int, str]] = frozenset()) -> str | None:
        """What in an expression only the VM knows, None if nothing is."""
        for item in expr.walk():
            if item.kind in ("memory", "call", "hardware", "asm"):
                return item.name or item.text.strip()
            if item.kind == "local" and item.variable not in seen:
                known = self.values.definitions.get(item.variable)
                if not known:
                    return item.name
                for definition in known:
                    hidden = self._what_hides(definition.value, seen | {item.variable})
                    if hidden is not None:
                        return f"{item.name} = {hidden}"
        return None

    def _check_local(self, line: int, name: str, kind: str, value: Expr | None) -> None:
        if not kind:
            raise At(line, f"the type of {name} can't be written without the project's headers: "
                     "use one of <stdint.h>")  # fmt: skip
        if value is not None and not self._is_visible(value):
            raise self._hidden(line, value)

    def _hidden(self, line: int, expr: Expr) -> At:
        return At(
            line,
            f"reading or acknowledging depends on {self._what_hides(expr)}, which only the VM "
            "knows: read first, then decide what becomes of the value",
        )


def _is_certain(step: Node) -> bool:
    return isinstance(step, Consumed) and step.field is None


def _ends(body: Sequence[Statement]) -> bool:
    if not body:
        return False
    last = body[-1]
    if last.kind == "block":
        return _ends(last.body)
    return last.kind in ("break", "return")
