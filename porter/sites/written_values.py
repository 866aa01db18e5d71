"""Values that are written to the system's own registers: nobody follows them from there."""

from __future__ import annotations

from porter.registers.register import Register
from porter.sites.context import Context
from porter.sites.objects import TRANSPARENT, operator_of
from porter.sites.registers import Registers
from porter.source.c_tree import Node
from porter.source.values import Place

_COMPARES = frozenset({b"==", b"!=", b"<", b"<=", b">", b">=", b"&&", b"||"})


def computed_with(node: Node) -> Node:
    """The whole computation of a number that a number is part of."""
    while (parent := node.parent) is not None and (
        parent.type in TRANSPARENT
        or (parent.type == "binary_expression" and operator_of(parent) not in _COMPARES)
    ):
        node = parent
    return node


def given_register(node: Node, context: Context, registers: Registers) -> Register | None:
    """The register of the system that an expression is written to, alone or computed with."""
    node = computed_with(node)
    parent = node.parent
    if parent is None or parent.type != "assignment_expression":
        return None
    left = parent.child_by_field_name("left")
    if left is None or left == node:
        return None
    value = registers.evaluator.value(left, context.scope)
    if not isinstance(value, Place) or value.address is None:
        return None
    return registers.identify(value) if registers.space.holds(value.address) else None
