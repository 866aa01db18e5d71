"""Numbers that stay numbers: they are compared, and nobody makes a pointer of them."""

from __future__ import annotations

from porter.sites.context import Context
from porter.sites.objects import operator_of
from porter.source.c_tree import PARENTHESES, Node, text_of, walk
from porter.source.declarations import is_declarator

_COMPARES = frozenset({b"==", b"!=", b"<", b"<=", b">", b">=", b"&&", b"||"})
_CONDITIONS = frozenset({"if_statement", "while_statement", "do_statement", "switch_statement"})
_DECLARATIONS = frozenset({"declaration", "parameter_declaration"})


def is_plain(whole: Node, context: Context) -> bool:
    """Whether an expression is compared, or kept in a variable of the function with which nothing
    else is done."""
    parent, node = _around(whole)
    if parent is None:
        return False
    if parent.type == "binary_expression":
        return operator_of(parent) in _COMPARES
    if parent.type == "case_statement":
        return parent.child_by_field_name("value") == node
    name = _kept_in(parent, node)
    if name is None or context.kind != "function":
        return False
    uses = [it for it in walk(context.root) if text_of(it) == name and it.type == "identifier"]
    declared = [it for it in uses if is_declarator(it)]
    return len(declared) == 1 and all(
        _is_plainly_declared(it) if it in declared else _is_counted(it) for it in uses
    )


def _around(node: Node) -> tuple[Node | None, Node]:
    """What an expression is a part of, parentheses aside, and which part."""
    while (parent := node.parent) is not None and parent.type in PARENTHESES:
        node = parent
    return parent, node


def _kept_in(parent: Node, value: Node) -> bytes | None:
    if parent.type == "init_declarator" and parent.child_by_field_name("value") == value:
        name = parent.child_by_field_name("declarator")
    elif parent.type == "assignment_expression" and operator_of(parent) == b"=":
        is_value = parent.child_by_field_name("right") == value
        name = parent.child_by_field_name("left") if is_value else None
    else:
        return None
    return text_of(name) if name is not None and name.type == "identifier" else None


def _is_plainly_declared(name: Node) -> bool:
    """Whether a declaration makes a variable of a name, no pointer and no array."""
    parent = name.parent
    if parent is not None and parent.type == "init_declarator":
        parent = parent.parent
    return parent is not None and parent.type in _DECLARATIONS


def _is_counted(use: Node) -> bool:
    parent, node = _around(use)
    if parent is None:
        return False
    if parent.type == "assignment_expression":  # as a value it would go on
        is_target = parent.child_by_field_name("left") == node
        return (
            is_target
            and parent.parent is not None
            and (parent.parent.type == "expression_statement")
        )
    if parent.type == "binary_expression":
        return operator_of(parent) in _COMPARES
    is_negated = parent.type == "unary_expression" and operator_of(parent) == b"!"
    return (
        is_negated
        or parent.type in _CONDITIONS | {"expression_statement"}
        or (
            parent.type == "update_expression"
            and parent.parent is not None
            and parent.parent.type == "expression_statement"
        )
    )
