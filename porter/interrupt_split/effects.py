"""What an access does to the cause of the interrupt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from porter.interrupt_split.bits import Values
from porter.interrupt_split.expression import ALL_BITS, Expr, peeled
from porter.interrupt_split.statement import Statement, accesses


@dataclass(frozen=True)
class Cleared:
    """Bits of the register `status` that an access clears; None: they aren't known."""

    status: str | None
    bits: int | None


def is_acknowledgement(expr: Expr) -> bool:
    """A write that tells the device that a cause was seen."""
    register = expr.register
    return (
        expr.kind == "write" and register is not None and register.kind.effect in ("ack", "status")
    )


def is_consuming_read(expr: Expr) -> bool:
    """A read that takes something out of the device."""
    register = expr.register
    return expr.kind == "read" and register is not None and register.kind.effect == "data"


def cleared_by(expr: Expr) -> Cleared:
    """What a consuming read or an acknowledgement clears."""
    register = expr.register
    if register is None:
        return Cleared(None, None)
    kind = register.kind
    if kind.effect == "data":
        return Cleared(kind.status, kind.clears or None)
    status = kind.status if kind.effect == "ack" else register.plain
    zero = kind.zero if kind.effect == "status" else False
    value = peeled(expr.value) if expr.value is not None else None
    if zero is None:
        return Cleared(status, None)
    if value is None or value.kind != "const":
        return Cleared(status, kind.writable)
    number = value.number & ALL_BITS
    if expr.operator == "|=":  # what reads as one is written as one
        return Cleared(status, 0 if zero else kind.writable)
    if expr.operator == "&=" and not zero:
        return Cleared(status, number & kind.writable)
    return Cleared(status, (~number if zero else number) & kind.writable)


class Captured:
    """Which accesses of one handler are lost when they come late."""

    def __init__(
        self, statements: Sequence[Statement], values: Values, live: frozenset[str]
    ) -> None:
        """`live`: registers that the hardware could move, but here only software does."""
        self._values = values
        self._live = live
        self.consuming = [
            item
            for _, item in accesses(statements)
            if is_acknowledgement(item) or is_consuming_read(item)
        ]
        self.cleared: dict[str, int] = {}
        for access in self.consuming:
            cleared = cleared_by(access)
            if cleared.status is not None:
                bits = cleared.bits if cleared.bits is not None else ALL_BITS
                self.cleared[cleared.status] = self.cleared.get(cleared.status, 0) | bits

    def __call__(self, expr: Expr) -> bool:
        """Whether the mid-section does it."""
        if is_acknowledgement(expr) or is_consuming_read(expr):
            return True
        register = expr.register
        if expr.kind != "read" or register is None:
            return False
        if register.kind.effect in ("timed", "unknown"):
            return register.name not in self._live
        if register.plain not in self.cleared:
            return False
        used = [bits for _, bits in self._values.used(expr)]
        # A status that is read for nothing is read as the first half of a sequence.
        return not used or any(bits & self.cleared[register.plain] for bits in used)
