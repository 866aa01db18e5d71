"""What C asks of the exception's number that a C function reads, wherever it hands it: a machine
says only whether a handler runs.

A question whether it is 0 a machine can answer. So it can one of the number or'ed with something
whose values are all known, if with 1 in the number's place every answer stays the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import function_name, is_declarator, is_read
from porter.context_switch.mask_reads import readings
from porter.source.arithmetic import literal
from porter.source.c_tree import (
    Node,
    enclosing_function,
    one_line,
    outermost,
    strip_parentheses,
    text_of,
)
from porter.source.truth import asks_truth, binary

_SMALLEST = 127  # of a cast to whatever type
_SIGN = 0x8000_0000
_NUMBERS = range(512)  # IPSR has nine bits (Armv7-M ARM, B1.4.2)
_ORDERS: dict[bytes, Callable[[int, int], bool]] = {
    b"==": lambda a, b: a == b,
    b"!=": lambda a, b: a != b,
    b"<": lambda a, b: a < b,
    b"<=": lambda a, b: a <= b,
    b">": lambda a, b: a > b,
    b">=": lambda a, b: a >= b,
}


def number_asked(function: str, units: CUnits) -> str:
    """Which C asks for more of it than whether it is 0; "" for none."""
    name = function.encode("latin-1")
    if why := units.called_by_others(name):
        return why
    starts, kept = readings(name, units.assembler_text(name) or b"", "IPSR", units)
    for node, parent, further in units.steps([*starts, *kept]):
        if node.type == "identifier" and units.definitions(text_of(node)):
            return f"C has the address of {text_of(node).decode('latin-1')}()"
        around = enclosing_function(node) if parent.type == "return_statement" else None
        if around is not None and (why := units.called_by_others(function_name(around))):
            return why
        is_end = further is None and parent.type != "expression_statement"
        if is_end and not _is_answered(node, parent, units):
            return f"C has '{one_line(parent)}'"
    return ""


def _is_answered(node: Node, parent: Node, units: CUnits) -> bool:
    def number(it: Node) -> int | None:
        return _constant(it, units)

    if parent.type == "sizeof_expression" or asks_truth(node, parent, number):
        return True
    sides = binary(parent, b"|")
    if sides is None:
        return False
    other = sides[1] if sides[0] == node else sides[0]
    outer = outermost(parent)
    if outer.parent is None:
        return False
    if asks_truth(outer, outer.parent, number):
        return True
    return _compares_alike(outer, outer.parent, other, units)


def _compares_alike(whole: Node, parent: Node, other: Node, units: CUnits) -> bool:
    """Whether a comparison of `other | number` with a constant has the same answer for 1 as for
    every number of an exception."""
    compared = binary(parent, *_ORDERS)
    values = set(_values(other, units))
    sign = parent.child_by_field_name("operator")
    if compared is None or sign is None or None in values or not values:
        return False
    limit = compared[1] if compared[0] == whole else compared[0]
    number = _constant(limit, units)
    is_small = number is not None and max(number, *(it or 0 for it in values)) < _SIGN
    if number is None or (number < _SIGN and not is_small):  # signed or not: the same order
        return False
    order, is_left = _ORDERS[text_of(sign)], compared[0] == whole

    def answer(word: int) -> bool:
        return order(word, number) if is_left else order(number, word)

    return all(
        answer(value | one) == answer(value | min(one, 1))
        for value in values
        if value is not None
        for one in _NUMBERS
    )


def _constant(node: Node, units: CUnits) -> int | None:
    """The value of a constant, as a word; the compiler is asked where it isn't plain to see."""
    plain = node
    while plain.type in ("parenthesized_expression", "cast_expression"):
        plain = plain.child_by_field_name("value") or plain.named_children[-1]
    found = literal(text_of(plain)) if plain.type == "number_literal" else None
    if found is not None and found.value <= _SMALLEST:
        return found.value
    return units.word(node, text_of(node).decode("latin-1"))


def _values(part: Node, units: CUnits) -> Iterator[int | None]:
    """All that a variable is ever set to; None for what nobody knows."""
    part = strip_parentheses(part)
    name = text_of(part)
    if part.type != "identifier" or _is_written_otherwise(name, units):
        yield None
        return
    yield 0  # what it begins with, if nothing else is said
    for _, value in units.assignments(name):
        yield _constant(value, units)


def _is_written_otherwise(name: bytes, units: CUnits) -> bool:
    """Whether something else may write a variable than plain assignments in C."""
    word = re.compile(rb"(?m)^(?!\s*(?:\.(?:global|globl|extern)|EXTERN|IMPORT)\b).*\b%s\b"
                      % re.escape(name))  # fmt: skip
    if units.cplusplus_naming(name) is not None or any(map(word.search, units.assembler_code())):
        return True
    if next(units.jumps(name), None) is not None:
        return True
    return not all(_is_plain(node) for node in units.named(name))


def _is_plain(node: Node) -> bool:
    """Whether a use of a name is its declaration, a read or a plain assignment; its address is
    none of these."""
    parent = node.parent
    if node.type != "identifier" or parent is None or parent.type == "pointer_expression":
        return False
    if is_declarator(node):
        return parent.type != "array_declarator"
    outer = outermost(node)
    around = outer.parent
    if around is None or around.type in ("pointer_expression", "update_expression"):
        return False
    if around.type == "assignment_expression" and around.child_by_field_name("left") == outer:
        sign = around.child_by_field_name("operator")
        return sign is not None and text_of(sign) == b"="
    return is_read(node)
