"""The number that a local variable holds which one assignment alone gives a value."""

from __future__ import annotations

from porter.program.c_text import CText
from porter.sites.local_names import declarations
from porter.sites.own_words import own_words
from porter.source.c_tree import Node, text_of, walk
from porter.source.declared import declared_name
from porter.source.evaluate import Scope
from porter.source.values import Number


def set_once(text: CText, function: Node, name: bytes, before: Node, scope: Scope) -> Number | None:
    """The number, if `scope` says what it is calculated from, and if it is there before a place of
    the function whatever happens."""
    declared = [
        (kind, declarator, value)
        for kind, declarator, value in declarations(function)
        if (it := declared_name(declarator)) is not None and text_of(it) == name
    ]
    if len(declared) != 1:
        return None
    kind, declarator, value = declared[0]
    is_parameter = kind.parent is not None and kind.parent.type != "declaration"
    if is_parameter or value is not None:
        return None
    if own_words(text, kind, declarator) & {b"static", b"extern", b"volatile"}:
        return None
    given = [it for it in walk(function) if _gives(it, name)]
    if len(given) != 1 or name in _written_besides(text, function, given[0]):
        return None
    statement = given[0].parent
    body = function.child_by_field_name("body")
    if statement is None or statement.parent != body or statement.end_byte > before.start_byte:
        return None
    type_ = text.evaluator.types.of(kind, declarator)
    found = text.evaluator.initial(type_, given[0].child_by_field_name("right"), scope)
    return found if isinstance(found, Number) else None


def _gives(node: Node, name: bytes) -> bool:
    left, sign = node.child_by_field_name("left"), node.child_by_field_name("operator")
    return (
        node.type == "assignment_expression"
        and left is not None
        and sign is not None
        and (text_of(left), text_of(sign)) == (name, b"=")
    )


def _written_besides(text: CText, node: Node, assignment: Node) -> frozenset[bytes]:
    """Names that are written, or whose address is taken, elsewhere than on its left side."""
    if node == assignment:
        right = node.child_by_field_name("right")
        return text.written.inside(right) if right is not None else frozenset()
    if not node.start_byte <= assignment.start_byte < node.end_byte:
        return text.written.inside(node)
    return frozenset().union(*(_written_besides(text, it, assignment) for it in node.children))
