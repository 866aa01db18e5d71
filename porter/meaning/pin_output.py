"""What a write to a port's data register means: which pins change, and to which levels."""

from __future__ import annotations

from dataclasses import dataclass

from porter.judging.unit import Unit
from porter.meaning.expressions import bare, source
from porter.sites.access import Access
from porter.source.c_tree import Node, text_of

LOW = 0xFFFF


@dataclass(frozen=True)
class Output:
    """The call that does the same behind its first argument, the port; `pins` when those that may
    change are constant. What was written is evaluated once, as it was."""

    call: bytes
    arguments: bytes
    pins: int | None


def output_of(unit: Unit, access: Access, name: str, granted: bytes | None) -> Output | None:
    """Of a write to the register `name` of a port; `granted` is C for the pins that the machine may
    set. None where that can't be told."""
    value = access.value
    if value is None:
        return None
    number = unit.text.evaluator.number(value, access.context.scope)
    text = source(value)
    if name != "ODR" and access.operator not in (b"=", b"|=", b"^=", b"+="):
        return None  # these read as 0
    if name in ("BRR", "BSRRH"):
        return _masked(_half(text, number), b"0", number)
    if name == "BSRRL":
        return _set(text, number)
    if name == "BSRR":
        pins = (number & LOW) | (number >> 16) if number is not None else None
        return Output(b"hyp_pin_write", text, pins)
    if access.operator == b"|=":
        return _set(text, number)
    if access.operator == b"&=":
        return _cleared(unit, access, value, granted)
    if access.operator == b"=" and granted is not None:
        return _masked(granted, text, None)
    if access.operator == b"^=":
        return Output(b"hyp_pin_toggle", _half(text, number), number)
    return None


def _masked(mask: bytes, levels: bytes, pins: int | None) -> Output:
    return Output(b"hyp_pin_set", mask + b", " + levels, pins)


def _set(text: bytes, number: int | None) -> Output:
    """Pins that go high."""
    return Output(b"hyp_pin_write", _half(text, number), number)


def _half(text: bytes, number: int | None) -> bytes:
    """A mask of pins: a port takes no more of what is written (RM0008, 9.2), and the kernel refuses
    what isn't granted."""
    return text if number is not None and number <= LOW else b"(%s) & 0xFFFFU" % text


def _cleared(unit: Unit, access: Access, value: Node, granted: bytes | None) -> Output | None:
    """`ODR &= ~X` resets X; `ODR &= X` resets all the others that the machine has."""
    node = bare(value)
    operand = node.child_by_field_name("argument")
    if node.type == "unary_expression" and text_of(node).startswith(b"~") and operand is not None:
        number = unit.text.evaluator.number(operand, access.context.scope)
        return _masked(_half(source(bare(operand)), number), b"0", number)
    if granted is None:
        return None
    return _masked(b"~(%s) & %s" % (source(value), granted), b"0", None)
