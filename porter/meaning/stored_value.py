"""Numbers that are stored and nothing else: an address in one leads nowhere from there."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.sites.access import Access
from porter.sites.objects import TRANSPARENT, operator_of
from porter.sites.written_values import computed_with, given_register
from porter.source.c_tree import (
    Node,
    arguments_of,
    parse_expression,
    strip_parentheses,
    text_of,
    walk,
)
from porter.source.declared import declared_name, parameter_names
from porter.source.evaluate import Evaluator
from porter.source.values import Initial, Number, Value

_MASK = 0xFFFF_FFFF
_COMPARES = frozenset({b"==", b"!=", b"<", b"<=", b">", b">="})


def why_value(unit: Unit, access: Access, value: Value | None) -> str | None:
    """Why an address at a site leads nowhere; None if it may. What is written to the system's own
    registers is followed no further. A number in the system's space that is stored in a word of a
    device is none, unless a register is known there, whose address DMA may be given."""
    if (register := given_register(access.whole, access.context, unit.registers)) is not None:
        return f"a value for {register}; the write is a site of its own"
    if not isinstance(value, Number | Initial):
        return None
    number, space = value.value & _MASK, unit.registers.space
    if space.knows(number) or not space.holds(number):
        return None
    evaluator = unit.text.evaluator
    node = computed_with(access.whole)
    parent = node.parent
    if parent is not None and parent.type == "argument_list":
        name = _only_stores(parent, node, evaluator)
        return f"a value that {name}() stores, and no address of a register" if name else None
    left = parent.child_by_field_name("left") if parent is not None else None
    if parent is None or parent.type != "assignment_expression" or left in (None, node):
        return None
    is_word = left is not None and _is_word(left, access.context.root, evaluator)
    return "a value that a register is given, and no address of one" if is_word else None


def _only_stores(arguments: Node, given: Node, evaluator: Evaluator) -> str | None:
    """The name of the function that stores what it is given there, by all of its definitions."""
    call = arguments.parent
    function = call.child_by_field_name("function") if call is not None else None
    if call is None or function is None or function.type != "identifier":
        return None
    name = text_of(function)
    given_to = arguments_of(call)
    if given not in given_to:
        return None
    place = given_to.index(given)
    known = evaluator.types.definitions(name) if name not in evaluator.macros else []
    if not known or not all(_is_stored(it, place, evaluator) for it in known):
        return None
    return name.decode("latin-1")


def _is_stored(function: Node, place: int, evaluator: Evaluator) -> bool:
    """Whether a function only puts a parameter into words of devices, or compares it."""
    declarator = function.child_by_field_name("declarator")
    body = function.child_by_field_name("body")
    names = parameter_names(declarator) if declarator is not None else []
    if body is None or place >= len(names) or not names[place]:
        return False
    uses = [it for it in walk(body) if it.type == "identifier" and text_of(it) == names[place]]
    return bool(uses) and all(_is_value(it, function, evaluator) for it in uses)


def _is_value(use: Node, function: Node, evaluator: Evaluator) -> bool:
    node = use
    while (parent := node.parent) is not None and parent.type in TRANSPARENT:
        if b"*" in text_of(parent.child_by_field_name("type") or parent.children[0]):
            return False
        node = parent
    if parent is None:
        return False
    if parent.type == "binary_expression":
        return operator_of(parent) in _COMPARES
    left = parent.child_by_field_name("left")
    is_value = parent.type == "assignment_expression" and node != left
    return is_value and left is not None and _is_word(left, function, evaluator)


def _is_word(left: Node, around: Node, evaluator: Evaluator) -> bool:
    """Whether a place is what a pointer to something volatile leads to, and no pointer itself."""
    made = evaluator.call_text(left)
    node = strip_parentheses((parse_expression(made) if made is not None else None) or left)
    pointer = node.child_by_field_name("argument")
    if node.type != "pointer_expression" or pointer is None or operator_of(node) != b"*":
        return False
    pointer = strip_parentheses(pointer)
    if pointer.type == "cast_expression":
        described = pointer.child_by_field_name("type")
        text = text_of(described) if described is not None else b""
        return b"volatile" in text and text.count(b"*") == 1
    return pointer.type == "identifier" and any(
        b"volatile" in text_of(it) and text_of(it).count(b"*") == 1
        for it in _declarations(around, text_of(pointer))
    )


def _declarations(around: Node, name: bytes) -> Iterator[Node]:
    """The parameters and variables of a name in a function."""
    for it in walk(around):
        if it.type in ("parameter_declaration", "declaration"):
            for declarator in it.children_by_field_name("declarator"):
                known = declared_name(declarator)
                if known is not None and text_of(known) == name:
                    yield it
