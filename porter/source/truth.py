"""Where of an expression's value only zero or not zero matters."""

from __future__ import annotations

from collections.abc import Callable

from porter.source.c_tree import Node, operands, text_of

_ASKS = frozenset({"if_statement", "while_statement", "do_statement", "for_statement"})


def binary(node: Node, *operators: bytes) -> tuple[Node, Node] | None:
    """Both sides of a binary expression with one of these operators."""
    parts = operands(node) if node.type == "binary_expression" else None
    return (parts[0], parts[2]) if parts is not None and parts[1] in operators else None


def asks_truth(node: Node, parent: Node, number: Callable[[Node], int | None]) -> bool:
    """Whether what is around an expression asks nothing else of it; `number` is a constant's
    value, if it knows that one."""
    if parent.type in _ASKS:
        return parent.child_by_field_name("body") != node
    if parent.type == "unary_expression":
        return text_of(parent).startswith(b"!")
    if parent.type == "conditional_expression":
        return parent.child_by_field_name("condition") == node
    if binary(parent, b"&&", b"||") is not None:
        return True
    sides = binary(parent, b"==", b"!=", b">")
    if sides is None or (sides[1] == node and binary(parent, b">") is not None):
        return False
    return number(sides[1] if sides[0] == node else sides[0]) == 0
