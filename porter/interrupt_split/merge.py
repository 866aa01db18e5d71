"""Which bits of a captured register the handler takes from the record, and which as they are now.

Bits that the mid-section cleared, or decided by, have to come from the record. Other bits say
what only the VM can serve (a transmitter that has room, an enable bit): by the time the handler
runs they may have changed, so it looks at the register itself, as it always did.
"""

from __future__ import annotations

from collections.abc import Sequence

from porter.interrupt_split.bits import Values
from porter.interrupt_split.capture import Field
from porter.interrupt_split.effects import Captured
from porter.interrupt_split.expression import ALL_BITS, Expr
from porter.interrupt_split.refusal import At
from porter.interrupt_split.relevance import Relevance
from porter.interrupt_split.statement import Statement, walk_all


class Merge:
    """Answers for the fields of one handler."""

    def __init__(
        self,
        statements: Sequence[Statement],
        relevance: Relevance,
        values: Values,
        captured: Captured,
    ) -> None:
        self._relevance = relevance
        self._values = values
        self._cleared = captured.cleared
        self._deciding = {
            id(item)
            for statement in walk_all(statements)
            if statement in relevance
            for item in self._decides(statement)
        }
        self._serving = {
            id(item)
            for statement in walk_all(statements)
            if statement.expr is not None and any(
                item.kind in ("write", "call") and not relevance.is_captured(item)
                for child in (*statement.body, *statement.other)
                for inner in child.walk()
                for expression in inner.expressions
                for item in expression.walk()
            )
            for item in statement.expr.walk()
        }  # fmt: skip

    def _decides(self, statement: Statement) -> list[Expr]:
        """Expressions whose value the mid-section looks at."""
        found: list[Expr] = []
        children = (*statement.body, *statement.other)
        if statement.expr is not None and any(child in self._relevance for child in children):
            found += statement.expr.walk()
        for expression in statement.expressions:
            for item in expression.walk():
                if item.kind == "write" and item.value is not None:
                    found += item.value.walk()
                elif item.kind in ("and", "or", "choice"):
                    found += item.parts[0].walk()
        return found

    def bits_of_record(self, field: Field) -> int:
        """The bits that come from the record; ALL_BITS: the whole value does.

        Raises At where the mid-section decides by a whole value of which the handler serves bits.
        """
        if field.register.kind.effect not in ("status", "control"):
            return ALL_BITS
        cleared = self._cleared.get(field.register.plain, 0)
        mine, serving, used = cleared, 0, 0
        for read in field.reads:
            for place, bits in self._values.used(read):
                used |= bits
                if id(place) in self._deciding and bits != ALL_BITS:
                    mine |= bits
                elif id(place) in self._deciding:
                    mine = ALL_BITS
                if id(place) in self._serving and bits != ALL_BITS:
                    serving |= bits
        if mine == ALL_BITS and serving & ~cleared:
            raise At(
                field.line,
                f"{field.register.name} decides as a whole what the mid-section does, and its bits "
                f"0x{serving & ~cleared:X} what only the VM can serve: ask for single flags",
            )
        if not used & ~mine:
            return ALL_BITS
        kind = field.register.kind
        if mine != ALL_BITS and kind.effect == "status" and not kind.known:
            raise At(
                field.line,
                f"{field.register.name} would be read by the mid-section and by the handler, and "
                "whether reading clears it isn't known for this block: read it only for what is "
                "captured",
            )
        return mine
