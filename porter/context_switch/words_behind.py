"""Whether a variable or a member that is said to lead to a struct may get what a member has that
leads to words or bytes: a stack, most of all.

A cast makes one of the other, and so does `void *`, in a local variable or in memory. What is
allocated is taken for what it is said to be, and so is an array that is used as a struct; but not
what memory behind `void *` gets from an array or a pointer of words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import (
    assignments_to,
    declared_name,
    function_name,
    is_local,
    local_declarations,
    parameter_place,
)
from porter.context_switch.statement_values import values_of
from porter.source.c_tree import (
    Node,
    ancestors,
    arguments_of,
    captured,
    enclosing_function,
    query,
    strip_parentheses,
    text_of,
)

_IDENTIFIERS = query("(identifier) @it")
_RETURNS = query("(return_statement (_) @it)")
_DECLARES = ("declaration", "field_declaration")
_OTHERS = frozenset({"struct_specifier", "union_specifier", "enum_specifier"})
_Seen = set[tuple[int, bytes, bool]]


class WordsBehind:
    """`is_object`: whether an expression's type says that it is a struct, or leads to one."""

    def __init__(self, units: CUnits, is_object: Callable[[Node], bool]) -> None:
        self._units, self._is_object = units, is_object
        self.may_be = cache(self._may_be)
        self._base = cache(self._base_of)

    def _may_be(self, name: bytes) -> bool:
        """Whether a variable of all functions, or a member, gets some."""
        return any(self._of(it, False, set()) for _, it in self._units.assignments(name))

    def _of(self, value: Node, kept: bool, seen: _Seen) -> bool:
        """Whether an expression has such a value. `kept`: memory behind `void *` gets it."""
        value = strip_parentheses(value)
        if value.type == "call_expression":
            return self._result(value, kept, seen)
        if value.type == "binary_expression":
            left = value.child_by_field_name("left")
            return left is not None and self._of(left, kept, seen)
        if value.type in ("field_expression", "subscript_expression", "identifier"):
            return not self._is_object(value) and self._place(value, kept, seen)
        return any(self._of(it, kept, seen) for it in values_of(value))

    def _place(self, value: Node, kept: bool, seen: _Seen) -> bool:
        """Of a variable, a member or an element of one."""
        name = value
        while name.type == "subscript_expression" and (of := name.child_by_field_name("argument")):
            name = strip_parentheses(of)
        around = enclosing_function(name)
        field = name.child_by_field_name("field")
        text = text_of(field or name)
        local = field is None and around is not None and is_local(around, text)
        kinds = self._kinds(field or name, around if local else None)
        is_words = kinds == {b"words"}
        if field is not None and is_words:
            return True
        if not kinds <= {b"words", b"void"}:
            return False
        key = (around.id if local and around is not None else 0, text, kept)
        if key in seen:
            return False
        seen.add(key)
        if local and around is not None:
            values = list(self._set_in(around, text))
        else:
            values = [it for _, it in self._units.assignments(text)]
        kept = kept or (not local and kinds == {b"void"})
        return (kept and is_words) or any(self._of(it, kept, seen) for it in values)

    def _set_in(self, function: Node, name: bytes) -> Iterator[Node]:
        """What a local variable or a parameter is set to."""
        uses = [it for it in captured(function, _IDENTIFIERS, "it") if text_of(it) == name]
        yield from (value for place, value in assignments_to(uses) if place.type == "identifier")
        if (place := parameter_place(function, name)) is not None:
            for call in self._units.calls(function_name(function)):
                if call.type == "call_expression" and len(arguments_of(call)) > place:
                    yield arguments_of(call)[place]

    def _result(self, call: Node, kept: bool, seen: _Seen) -> bool:
        callee = call.child_by_field_name("function")
        for definition in self._units.definitions(text_of(callee)) if callee is not None else ():
            key = (definition.id, b"", kept)
            if key not in seen:
                seen.add(key)
                if any(self._of(it, kept, seen) for it in captured(definition, _RETURNS, "it")):
                    return True
        return False

    def _kinds(self, name: Node, function: Node | None) -> set[bytes]:
        """What a name's declarations say that it is of, or leads to: words, void or others."""
        if function is not None:
            declared = [it for it, _ in local_declarations(function, text_of(name))]
        else:
            declared = [it for it in self._declarations(name) if enclosing_function(it) is None]
        kinds = (it.child_by_field_name("type") for it in declared)
        return {self._kind(it) for it in kinds if it is not None} or {b""}

    def _declarations(self, name: Node) -> Iterator[Node]:
        for node in self._units.named(text_of(name)):
            around = next((it for it in ancestors(node) if it.type in _DECLARES), None)
            if around is not None and node.type == name.type:
                declarators = around.children_by_field_name("declarator")
                if any(declared_name(it) == node for it in declarators):
                    yield around

    def _kind(self, kind: Node) -> bytes:
        if kind.type == "type_identifier":
            return self._base(text_of(kind))
        if kind.type in _OTHERS:
            return b""
        return b"void" if text_of(kind) == b"void" else b"words"

    def _base_of(self, name: bytes) -> bytes:
        """What a type's name stands for, as far as a typedef says that."""
        if name in (b"size_t", b"uintptr_t"):
            return b"words"
        for node in self._units.named(name):
            around = next((it for it in ancestors(node) if it.type == "type_definition"), None)
            kind = around.child_by_field_name("type") if around is not None else None
            declarators = around.children_by_field_name("declarator") if around is not None else []
            if kind is not None and any(text_of(it).endswith(name) for it in declarators):
                return b"" if text_of(kind) == name else self._kind(kind)
        return b""
