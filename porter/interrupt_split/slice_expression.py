"""The steps for what evaluating an expression captures, and the fields that it fills."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from porter.interrupt_split.around import Around
from porter.interrupt_split.bits import Values
from porter.interrupt_split.capture import (
    Assign,
    Consumed,
    Field,
    If,
    Node,
    Read,
    Write,
)
from porter.interrupt_split.device import DeviceRegister
from porter.interrupt_split.effects import cleared_by, is_acknowledgement, is_consuming_read
from porter.interrupt_split.expression import Expr
from porter.interrupt_split.refusal import At
from porter.interrupt_split.relevance import Relevance
from porter.interrupt_split.statement import Statement

Named = Callable[[str], DeviceRegister | None]
"""The register of a name."""


@dataclass
class ExpressionSlicer:
    """Works on one handler. `residual`: something is left that only the VM can serve; `is_macro`:
    a name that a field can't have."""

    relevance: Relevance
    values: Values
    named: Named
    residual: bool
    is_macro: Callable[[str], bool]
    fields: list[Field] = field(default_factory=list)
    captured: dict[int, Field] = field(default_factory=dict)  # by id of the read
    acknowledgements: list[Expr] = field(default_factory=list)
    once: list[Statement] = field(default_factory=list)  # loops that capture once

    def reads(
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
            self.reads(part, out, around, statement, inner or needed or acknowledges)
        if needed:
            self.check_local(expr.line, expr.name, "int", expr.value)
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
                self.reads(part, out, around, statement, wanted)
            return
        self.reads(first, out, around, statement, wanted=True)
        if not self.is_visible(first):
            raise self.hidden(expr.line, first)
        ways: list[list[Node]] = []
        for number, part in enumerate(rest):
            positive = expr.kind != "or" and number == 0
            steps: list[Node] = []
            self.reads(part, steps, around.under(first, positive), statement, wanted)
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
        if expr.value is not None and not self.is_visible(expr.value):
            hides = self.values.what_hides(expr.value)
            raise At(
                expr.line,
                f"{expr.text} acknowledges what {hides} says, which the mid-section can't "
                "see: acknowledge constant bits or what was read",
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
            found = around.read.get(cleared.status)
            if found is None and expr.kind == "write":
                found = self._status(cleared.status, expr, out)
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
        """Read the flags that an unconditional acknowledgement is about to clear. Before a read
        of data that would do more: a status read can be the first half of a clearing sequence."""
        register = self.named(name)
        if register is None and expr.register is not None and expr.register.plain == name:
            register = expr.register
        if register is None:
            return None
        found = self._new_field(register, expr.line)
        out.append(Read(expr.line, found))
        return found

    # --- what the mid-section can't see ----------------------------------------------------

    def is_visible(self, expr: Expr) -> bool:
        """Whether the mid-section can know a value."""
        return self.values.what_hides(expr) is None

    def check_local(self, line: int, name: str, kind: str, value: Expr | None) -> None:
        """Raises At for a local that the mid-section can't have."""
        if not kind:
            raise At(line, f"the type of {name} can't be written without the project's headers: "
                     "use one of <stdint.h>")  # fmt: skip
        if value is not None and not self.is_visible(value):
            raise self.hidden(line, value)

    def hidden(self, line: int, expr: Expr) -> At:
        """The refusal for a value that only the VM knows."""
        return At(
            line,
            f"reading or acknowledging depends on {self.values.what_hides(expr)}, which only the "
            "VM knows: read first, then decide what becomes of the value",
        )


def _is_certain(step: Node) -> bool:
    return isinstance(step, Consumed) and step.field is None
