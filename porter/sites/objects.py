"""From a name to the object in memory that the expression around it is."""

from __future__ import annotations

from porter.sites.context import Context
from porter.source.c_tree import PARENTHESES, Node, is_of_statement, text_of
from porter.source.evaluate import Evaluator
from porter.source.scoped_names import whole_name
from porter.source.values import Initial, Number, Place, Pointer, Value

TRANSPARENT = PARENTHESES | {"cast_expression"}


def object_around(leaf: Node, context: Context, evaluator: Evaluator) -> tuple[Node, Value | None]:
    """From a name outwards to the largest expression that is still one object in memory."""
    node = whole_name(leaf)
    if leaf.type == "field_identifier" and leaf.parent is not None:
        node = leaf.parent
    best: tuple[Node, Value | None] = (node, evaluator.value(node, context.scope))
    while (parent := node.parent) is not None and _continues(parent, node):
        if is_of_statement(parent) or _is_function_call(parent, evaluator):
            break
        value = evaluator.value(parent, context.scope)
        if _is_elsewhere(value, best[1]):
            break
        if isinstance(value, Place) or (
            isinstance(value, Pointer) and not isinstance(best[1], Place)
        ):
            best = (parent, value)
        elif value is None and parent.type == "call_expression":
            break
        node = parent
    return best


def _is_elsewhere(value: Value | None, object_: Value | None) -> bool:
    """Whether an expression is another object than a known one: where that points to."""
    is_known = isinstance(object_, Place) and object_.address is not None
    return is_known and isinstance(value, Place) and value.address is None


def _continues(parent: Node, node: Node) -> bool:
    """Whether `parent` only says where the object is that `node` leads to."""
    if parent.type in TRANSPARENT:
        return True
    if parent.type in ("field_expression", "subscript_expression"):
        return parent.child_by_field_name("argument") == node
    if parent.type == "pointer_expression":
        return text_of(parent).startswith(b"*")
    if parent.type == "binary_expression":
        return operator_of(parent) in (b"+", b"-", b"|")
    return parent.type in ("call_expression", "argument_list")


def _is_function_call(node: Node, evaluator: Evaluator) -> bool:
    """What a function returns isn't what it was given; what a macro makes of it may be."""
    is_call = node.type == "call_expression" and evaluator.call_text(node) is None
    return is_call and evaluator.cast_argument(node) is None


def address_around(leaf: Node, context: Context, evaluator: Evaluator) -> tuple[int, bool] | None:
    """The address that a name, or the sum that it is part of, stands for, and whether it is known
    to the byte; None where it stands for something else."""
    _, found = object_around(leaf, context, evaluator)
    match found:
        case Pointer(address=int() as address) | Place(address=int() as address):
            return address, found.span == 0
    _, value = sum_around(leaf, context, evaluator)
    return (value.value, True) if isinstance(value, Number | Initial) else None


def sum_around(leaf: Node, context: Context, evaluator: Evaluator) -> tuple[Node, Value | None]:
    """From a name outwards to the largest sum that it is part of, and the value of that."""
    node = whole_name(leaf)
    value = evaluator.value(node, context.scope)
    while (parent := node.parent) is not None and (
        parent.type in TRANSPARENT or operator_of(parent) in (b"+", b"-")
    ):
        node = parent
        whole = evaluator.value(node, context.scope)
        value = whole if isinstance(whole, Number | Initial) else value
    return node, value


def operator_of(node: Node) -> bytes:
    """The operator of an expression, b"" if it has none."""
    sign = node.child_by_field_name("operator")
    return text_of(sign) if sign is not None else b""
