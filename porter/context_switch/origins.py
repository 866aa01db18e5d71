"""Whether a pointer comes from where structs are: a cast or a calculation makes one lead anywhere.

What a type says is true of a variable's address, and of pointers that come from there: through
variables, members, parameters, results and casts from one struct to another. The struct around a
list's node, at a distance that is a constant, is one, too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import (
    assignments_to,
    function_name,
    is_local,
    local_declarations,
    parameter_place,
)
from porter.context_switch.statement_values import values_of
from porter.context_switch.words_behind import WordsBehind
from porter.source.c_tree import (
    Node,
    arguments_of,
    captured,
    enclosing_function,
    query,
    strip_parentheses,
    text_of,
)

_IDENTIFIERS = query("(identifier) @it")
_RETURNS = query("(return_statement (_) @it)")
_PARTS = frozenset({"field_expression", "subscript_expression", "pointer_expression"})
_FARTHEST = 4096  # bytes: no struct around a node is larger
_ARRAY = "array_declarator"


class Origins:
    """`running`: functions whose calls hand parameters over, by the nodes' numbers. `is_object`:
    whether an expression's type says that it is a struct, or leads to one, of which there are
    variables or members. `is_place`: whether a number may be a pointer's."""

    def __init__(
        self,
        units: CUnits,
        running: Collection[int],
        is_object: Callable[[Node], bool],
        is_place: Callable[[Node], bool | None],
    ) -> None:
        self._units, self._is_object, self._is_place = units, is_object, is_place
        self._running = running
        self._words = WordsBehind(units, is_object)

    def is_known(self, pointer: Node) -> bool:
        """Whether an expression leads to a struct, as far as all that it comes from does."""
        return self._known(pointer, set())

    def _known(self, node: Node, seen: set[tuple[int, bytes]]) -> bool:
        node = strip_parentheses(node)
        if (number := self._is_place(node)) is not None:
            return number
        if node.type == "null":
            return True
        if node.type == "identifier":
            return self._is_object(node) and self._variable(node, seen)
        if node.type in _PARTS:
            return self._part(node, seen)
        if node.type == "binary_expression":
            return self._sum(node, seen)
        if node.type == "call_expression":
            return self._result(node, seen)
        inner = list(values_of(node))
        return bool(inner) and all(self._known(it, seen) for it in inner)

    def _part(self, node: Node, seen: set[tuple[int, bytes]]) -> bool:
        """Of a member or an element: what it is a part of, and what it is set to if it is itself a
        pointer that memory has."""
        base, member = node.child_by_field_name("argument"), node.child_by_field_name("field")
        if base is None or not (text_of(node).startswith(b"&") or self._is_object(node)):
            return False
        return self._known(base, seen) and (
            member is None or not self._words.may_be(text_of(member))
        )

    def _variable(self, name: Node, seen: set[tuple[int, bytes]]) -> bool:
        around, text = enclosing_function(name), text_of(name)
        if around is None or not is_local(around, text):
            return not self._words.may_be(text)
        key = (around.id, text)
        if key in seen:
            return True
        seen.add(key)
        if any(declared.parent is not None and declared.parent.type == _ARRAY
               for _, declared in local_declarations(around, text)):  # fmt: skip
            return True
        uses = [it for it in captured(around, _IDENTIFIERS, "it") if text_of(it) == text]
        if any(it.parent is not None and it.parent.type == "gnu_asm_output_operand" for it in uses):
            return False
        values = [value for place, value in assignments_to(uses) if place.type == "identifier"]
        if (place := parameter_place(around, text)) is not None:
            lists = (arguments_of(it) for it in self._units.calls(function_name(around))
                     if it.type == "call_expression" and self._runs(it))  # fmt: skip
            values += [it[place] for it in lists if len(it) > place]
        return all(self._known(it, seen) for it in values)

    def _runs(self, call: Node) -> bool:
        around = enclosing_function(call)
        return around is not None and around.id in self._running

    def _sum(self, node: Node, seen: set[tuple[int, bytes]]) -> bool:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        sign = text_of(node.child_by_field_name("operator") or node)
        if left is None or right is None or sign not in (b"+", b"-"):
            return False
        is_typed = strip_parentheses(left).type != "cast_expression" and self._is_object(left)
        distance = None if is_typed else self._units.constant(right, text_of(right).decode())
        is_near = is_typed or (distance is not None and distance < _FARTHEST)
        return is_near and self._known(left, seen)

    def _result(self, call: Node, seen: set[tuple[int, bytes]]) -> bool:
        callee = call.child_by_field_name("function")
        definitions = self._units.definitions(text_of(callee)) if callee is not None else []
        for definition in definitions:
            key = (definition.id, b"")
            if key in seen:
                continue
            seen.add(key)
            if not all(self._known(it, seen) for it in captured(definition, _RETURNS, "it")):
                return False
        return bool(definitions)
