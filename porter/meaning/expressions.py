"""Shapes of expressions that several rules look for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.source.c_lexer import lex_fragment
from porter.source.c_tree import (
    PARENTHESES,
    Node,
    enclosing_function,
    is_of_statement,
    outermost,
    parse_expression,
    strip_parentheses,
    text_of,
)
from porter.source.cplusplus_casts import named_cast
from porter.source.evaluate import Evaluator, Scope
from porter.source.truth import asks_truth, binary
from porter.source.values import Number

_LOOSE = re.compile(rb"(?<=[(\[!~]) | (?=[)\],;])| ?(->) ?")


def bare(node: Node) -> Node:
    """An expression without parentheses and casts around it."""
    node = strip_parentheses(node)
    while (inner := _cast(node)) is not None:
        node = strip_parentheses(inner)
    return node


def _cast(node: Node) -> Node | None:
    """The operand of a cast."""
    if node.type == "cast_expression":
        return node.child_by_field_name("value")
    named = named_cast(node)
    return named[1] if named is not None else None


def outside_parentheses(node: Node) -> Node:
    """The outermost parentheses around an expression, or the expression itself."""
    while node.parent is not None and node.parent.type in PARENTHESES:
        if is_of_statement(node.parent):
            break
        node = node.parent
    return node


def is_truth_test(node: Node, evaluator: Evaluator, scope: Scope) -> bool:
    """Whether only zero or not zero matters of an expression's value."""
    outer = node
    while outer.parent is not None and outer.parent.type in PARENTHESES:
        outer = outer.parent
    parent = outer.parent
    if parent is not None and parent.type == "return_statement":
        return _returns_truth(parent, evaluator)
    return parent is not None and asks_truth(
        outer, parent, lambda other: evaluator.number(other, scope)
    )


def _returns_truth(statement: Node, evaluator: Evaluator) -> bool:
    """Whether a function returns C's own truth value, which is 1 for whatever isn't 0."""
    function = enclosing_function(statement)
    kind = function.child_by_field_name("type") if function is not None else None
    declarator = function.child_by_field_name("declarator") if function is not None else None
    if kind is None or declarator is None or declarator.type != "function_declarator":
        return False
    return tuple(evaluator.macros.expand(lex_fragment(text_of(kind)))) == (b"_Bool",)


def is_computed_with(node: Node, evaluator: Evaluator, scope: Scope) -> bool:
    """Whether more than zero or not zero of an expression's value enters another expression."""
    outer = outermost(node)
    if outer.parent is None or is_truth_test(node, evaluator, scope):
        return False
    kind = outer.parent.type
    return kind in ("binary_expression", "unary_expression", "subscript_expression") or (
        kind == "switch_statement" and outer == outer.parent.child_by_field_name("condition")
    )


def mask_around(node: Node) -> tuple[Node, Node] | None:
    """The `x & MASK` around an expression x, and MASK."""
    outer = outermost(node)
    parent = outer.parent
    sides = binary(parent, b"&") if parent is not None else None
    if parent is None or sides is None:
        return None
    return parent, sides[1] if sides[0] == outer else sides[0]


def masked(node: Node, evaluator: Evaluator, scope: Scope) -> tuple[Node, int] | None:
    """The `x & MASK` around an expression x and the mask's value."""
    found = mask_around(node)
    mask = evaluator.number(found[1], scope) if found is not None else None
    return (found[0], mask) if found is not None and mask is not None else None


def expanded(node: Node, evaluator: Evaluator) -> Node:
    """A name that is an object-like macro for an expression, as that expression."""
    node = bare(node)
    macro = evaluator.macros.get(text_of(node)) if node.type == "identifier" else None
    if macro is None or macro.parameters is not None:
        return node
    body = parse_expression(b" ".join(macro.text))
    if body is None or bare(body).type in ("identifier", "number_literal", "call_expression"):
        return node if body is None else expanded(body, evaluator)
    return bare(body)


def same_text(left: Node, right: Node) -> bool:
    """Whether two expressions are written alike, parentheses and casts aside."""
    return text_of(bare(left)).split() == text_of(bare(right)).split()


def bits_of(number: int) -> Iterator[int]:
    """Numbers of the bits that are one."""
    return (bit for bit in range(32) if number >> bit & 1)


def source(node: Node) -> bytes:
    """The text of an expression on one line."""
    return b" ".join(text_of(node).split())


def closed_up(text: bytes) -> bytes:
    """Tokens with a space between any two, as one would write them."""
    if b'"' in text or b"'" in text:
        return text
    return _LOOSE.sub(rb"\1", text)


def number_of(text: bytes, evaluator: Evaluator, scope: Scope) -> int | None:
    """The signed value of an expression given as text."""
    value = evaluator.text(text, scope)
    return value.value if isinstance(value, Number) else None
