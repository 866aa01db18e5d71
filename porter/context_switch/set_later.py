"""What C sets a variable to while the program runs, as far as its text says.

`mpu = &MPU->CTRL;` makes a handler that stores through `mpu` write a register. Followed backwards
are casts, sums, members and elements of what is at a number, both sides of a condition, variables
and members, parameters, and results of functions that are called by name. What is stored through a
pointer to the variable isn't.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import product

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import (
    assignments_to,
    base_of,
    function_name,
    is_local,
    parameter_place,
)
from porter.context_switch.ir import WORD, Binary, Const, Expr, Symbol
from porter.context_switch.walk import fold
from porter.source.c_tree import Node, arguments_of, enclosing_function, text_of, walk

_DEEPEST = 12  # expressions within expressions, and those that they come from
_MOST_NAMES = 16  # that are looked for in the whole project, for one variable
_NUMBER = re.compile(rb"(0[xX][0-9A-Fa-f]+|[0-9]+)[uUlL]*")
_PATH = re.compile(rb"[\w.\[\]\s]*")
_PARTS = frozenset({"field_expression", "subscript_expression", "parenthesized_expression"})


class SetLater:
    """Looks assignments up in a project's C, as the preprocessor leaves it."""

    def __init__(self, units: CUnits) -> None:
        self._units = units
        self.words = cache(self._words)
        self._offsets: dict[tuple[bytes, bytes], int | None] = {}

    def _words(self, name: str, offset: int) -> list[Expr]:
        """What the word at an offset in bytes may be set to: numbers, addresses of variables."""
        variable = name.encode("latin-1")
        search = _Search(self._units)
        found: dict[Expr, None] = {}
        for left, right in self._units.assignments(variable):
            around = enclosing_function(left)
            if around is not None and is_local(around, variable):
                continue
            # What it begins with as a whole is in the object.
            is_list = right.type == "initializer_list"
            if not is_list and self._offset_of(variable, left) in (offset, None):
                found |= dict.fromkeys(search.values(right))
        return list(found)

    def _offset_of(self, name: bytes, left: Node) -> int | None:
        """Of what is set in the variable, in bytes; None if that isn't known."""
        path = text_of(left).strip().removeprefix(name).strip()
        if not path:
            return 0
        if not _PATH.fullmatch(path):
            return None
        if (name, path) not in self._offsets:
            kind = f"__typeof__({name.decode('latin-1')})"
            text = f"__builtin_offsetof(struct {{ {kind} it; }}, it{path.decode('latin-1')})"
            self._offsets[name, path] = self._units.constant(left, text)
        return self._offsets[name, path]


class _Search:
    """One look-up; each expression is looked at once."""

    def __init__(self, units: CUnits) -> None:
        self._units = units
        self._seen: set[int] = set()
        self._names: set[bytes] = set()
        self._depth = 0

    def values(self, node: Node | None) -> Iterator[Expr]:
        """What an expression may be."""
        if node is None or node.id in self._seen or self._depth >= _DEEPEST:
            return
        self._seen.add(node.id)
        self._depth += 1
        yield from self._of(node)
        self._depth -= 1

    def _of(self, node: Node) -> Iterator[Expr]:
        match node.type:
            case "number_literal":
                yield from _number(node)
            case "identifier":
                yield from self._variable(node)
            case "field_expression":
                field = node.child_by_field_name("field")
                yield from self._set(text_of(field)) if field is not None else ()
            case "subscript_expression":
                yield from self._elements(node.child_by_field_name("argument"))
            case "initializer_list":
                for element in node.named_children:
                    yield from self.values(element)
            case "parenthesized_expression":
                yield from self.values(node.named_child(0))
            case "cast_expression":
                yield from self.values(node.child_by_field_name("value"))
            case "conditional_expression":
                yield from self.values(node.child_by_field_name("consequence"))
                yield from self.values(node.child_by_field_name("alternative"))
            case "comma_expression" | "assignment_expression":
                yield from self.values(node.child_by_field_name("right"))
            case "call_expression":
                yield from self._results(node)
            case "binary_expression":
                yield from self._exact(node) or self._calculated(node)
            case "pointer_expression" if text_of(node).startswith(b"&"):
                yield from self._exact(node) or self._address(node.child_by_field_name("argument"))

    def _exact(self, node: Node) -> list[Expr]:
        """The value of an expression of numbers and types alone, as the compiler calculates it."""
        if any(it.type == "identifier" for it in walk(node)):
            return []
        value = self._units.constant(node, text_of(node).decode("latin-1"))
        return [] if value is None else [Const(value)]

    def _set(self, name: bytes) -> Iterator[Expr]:
        """What a name is set to anywhere."""
        self._names.add(name)
        for _, right in self._units.assignments(name) if len(self._names) <= _MOST_NAMES else ():
            yield from self.values(right)

    def _variable(self, node: Node) -> Iterator[Expr]:
        name, around = text_of(node), enclosing_function(node)
        if around is None or not is_local(around, name):
            if self._units.is_array(name):
                yield Symbol(name.decode("latin-1"))
            else:
                yield from self._set(name)
            return
        own = (it for it in walk(around) if it.type == "identifier" and text_of(it) == name)
        for _, right in assignments_to(own):
            yield from self.values(right)
        place = parameter_place(around, name)
        if place is None:
            return
        for call in self._units.calls(function_name(around)):
            for argument in arguments_of(call)[place : place + 1]:  # none: another's of its name
                yield from self.values(argument)

    def _elements(self, array: Node | None) -> Iterator[Expr]:
        """What elements of an array are set to."""
        name = base_of(array)
        yield from self._set(text_of(name)) if name is not None else ()

    def _results(self, call: Node) -> Iterator[Expr]:
        callee = call.child_by_field_name("function")
        for definition in self._units.definitions(text_of(callee)) if callee is not None else ():
            for statement in walk(definition):
                if statement.type == "return_statement" and statement.named_children:
                    yield from self.values(statement.named_children[0])

    def _calculated(self, node: Node) -> Iterator[Expr]:
        """Of a sum with something unknown, the other part: it says where about that is."""
        sign = text_of(node.child_by_field_name("operator") or node).decode("latin-1")
        left = list(self.values(node.child_by_field_name("left")))
        right = list(self.values(node.child_by_field_name("right")))
        if sign in ("+", "-", "|", "&"):
            for one, other in product(left or [Const(0)], right or [Const(0)]):
                yield fold(Binary(sign, one, other))

    def _address(self, place: Node | None) -> Iterator[Expr]:
        """Of a variable; of a part of it and of what a pointer leads to, where that begins."""
        while place is not None and place.type in _PARTS:
            inner = place.child_by_field_name("argument") or place.named_child(0)
            sign = place.child_by_field_name("operator")
            is_element = place.type == "subscript_expression" and not self._is_array(inner)
            if is_element or (sign is not None and text_of(sign) == b"->"):
                yield from self.values(inner)
                return
            place = inner
        if place is not None and place.type == "identifier":
            yield Symbol(text_of(place).decode("latin-1"))

    def _is_array(self, place: Node | None) -> bool:
        name = base_of(place)
        return name is not None and self._units.is_array(text_of(name))


def _number(node: Node) -> Iterator[Expr]:
    if match := _NUMBER.fullmatch(text_of(node)):
        octal = match[1].startswith(b"0") and match[1].isdigit()
        yield Const(int(match[1], 8 if octal else 0) & WORD)
