"""What an access does to the cause of the interrupt."""

from __future__ import annotations

from dataclasses import dataclass

from porter.interrupt_split.expression import ALL_BITS, Expr, peeled


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


def is_captured_access(expr: Expr, live: frozenset[str]) -> bool:
    """An access that is lost when it comes late. `live`: registers that only software moves."""
    if is_acknowledgement(expr) or is_consuming_read(expr):
        return True
    register = expr.register
    return (
        expr.kind == "read"
        and register is not None
        and register.kind.effect in ("timed", "unknown")
        and register.name not in live
    )


def cleared_by(expr: Expr) -> Cleared:
    """What a consuming read or an acknowledgement clears."""
    register = expr.register
    if register is None:
        return Cleared(None, None)
    kind = register.kind
    if kind.effect == "data":
        return Cleared(kind.status, kind.clears or None)
    status = kind.status if kind.effect == "ack" else register.name
    zero = kind.zero if kind.effect == "status" else False
    value = peeled(expr.value) if expr.value is not None else None
    if zero is None:
        return Cleared(status, None)
    if value is None or value.kind != "const":
        return Cleared(status, ALL_BITS)
    number = value.number & ALL_BITS
    return Cleared(status, (~number if zero else number) & ALL_BITS or None)
