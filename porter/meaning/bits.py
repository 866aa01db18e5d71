"""What is certain about the bits of a value that is not a constant."""

from __future__ import annotations

from porter.source.c_tree import Node, strip_parentheses
from porter.source.evaluate import Evaluator, Scope
from porter.source.truth import binary

_ALL = 0xFFFF_FFFF


def ones(node: Node, evaluator: Evaluator, scope: Scope) -> int:
    """Bits that are one whatever the unknown parts are."""
    return _known(node, evaluator, scope)[0]


def zeros(node: Node, evaluator: Evaluator, scope: Scope) -> int:
    """Bits that are zero whatever the unknown parts are."""
    return _known(node, evaluator, scope)[1]


def _known(node: Node, evaluator: Evaluator, scope: Scope) -> tuple[int, int]:
    """(ones, zeros) among the low 32 bits."""
    node = strip_parentheses(node)
    number = evaluator.number(node, scope)
    if number is not None:
        return number, ~number & _ALL
    if node.type == "cast_expression":
        inner = node.child_by_field_name("value")
        return _known(inner, evaluator, scope) if inner is not None else (0, 0)
    sides = binary(node, b"|", b"&")
    if sides is None:
        return 0, 0
    left_ones, left_zeros = _known(sides[0], evaluator, scope)
    right_ones, right_zeros = _known(sides[1], evaluator, scope)
    if binary(node, b"|") is not None:
        return left_ones | right_ones, left_zeros & right_zeros
    return left_ones & right_ones, left_zeros | right_zeros
