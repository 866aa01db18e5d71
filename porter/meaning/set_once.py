"""The number that a variable holds which one assignment alone gives a value."""

from __future__ import annotations

from porter.flow.kept_numbers import KeptNumber
from porter.program.c_text import CText
from porter.sites.local_names import declarations
from porter.sites.own_words import own_words
from porter.source.c_tree import Node, text_of, walk
from porter.source.declared import declared_name
from porter.source.evaluate import Scope
from porter.source.values import Number


def set_once(text: CText, function: Node, name: bytes, before: Node, scope: Scope) -> Number | None:
    """A local variable's number, if `scope` says what it is calculated from, and if it is there
    before a place of the function whatever happens."""
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
    if len(given) != 1 or name in text.written.besides(function, given[0]):
        return None
    if not _is_passed(function, given[0], before):
        return None
    type_ = text.evaluator.types.of(kind, declarator)
    found = text.evaluator.initial(type_, given[0].child_by_field_name("right"), scope)
    return found if isinstance(found, Number) else None


def kept_since(
    kept: KeptNumber, text: CText, function: Node, before: Node, scope: Scope
) -> Number | None:
    """The same of a variable outside functions whose one assignment in the program is there."""
    if kept.given is None or not _is_passed(function, kept.given, before):
        return None
    found = text.evaluator.initial(kept.type, kept.given.child_by_field_name("right"), scope)
    return found if isinstance(found, Number) else None


def _is_passed(function: Node, assignment: Node, before: Node) -> bool:
    """Whether everybody who comes to a place of a function has been at an assignment in it."""
    statement, body = assignment.parent, function.child_by_field_name("body")
    return (
        statement is not None
        and statement.parent == body
        and statement.end_byte <= before.start_byte
        and not any(it.type == "goto_statement" for it in walk(function))
    )


def _gives(node: Node, name: bytes) -> bool:
    left, sign = node.child_by_field_name("left"), node.child_by_field_name("operator")
    return (
        node.type == "assignment_expression"
        and left is not None
        and sign is not None
        and (text_of(left), text_of(sign)) == (name, b"=")
    )
