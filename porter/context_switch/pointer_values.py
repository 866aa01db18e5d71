"""Which functions a pointer that C calls may hold, where all that sets it is in plain sight.

Then a call through it comes to these and not to whatever has its address taken: a hook is no task.
In doubt, None: its address is taken, it lies in a union or in a struct in another, C++ or assembler
has its name, or what it is set to is calculated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import (
    function_name,
    is_declarator,
    is_local,
    parameter_place,
)
from porter.source.c_tree import (
    Node,
    ancestors,
    arguments_of,
    captured,
    enclosing_function,
    query,
    text_of,
)

_NAMES = query("(identifier) @it")
_LISTS = query("(initializer_list) @it")
_SAME = frozenset({"parenthesized_expression", "cast_expression"})
_READS = frozenset(
    {"call_expression", "argument_list", "return_statement", "cast_expression", "init_declarator",
     "if_statement", "while_statement", "conditional_expression", "parenthesized_expression",
     "expression_statement", "comma_expression", "for_statement", "initializer_list",
     "initializer_pair", "sizeof_expression"}
)  # fmt: skip
_NO_FUNCTION = frozenset(
    {"initializer_list", "initializer_pair", "comment", "number_literal", "string_literal",
     "char_literal"}
)  # fmt: skip
_ASKS = frozenset({b"==", b"!=", b"&&", b"||", b"!"})
_Key = tuple[int | None, bytes, str]


class PointerValues:
    """`elsewhere`: whether something that isn't C may have a name; `renamed`: whether a function
    may be called by another one; `linked`: whether a link gives another name to it."""

    def __init__(
        self,
        units: CUnits,
        elsewhere: Callable[[str], bool],
        renamed: Callable[[str], bool],
        linked: Callable[[str], bool],
    ) -> None:
        self._units, self._elsewhere, self._renamed = units, elsewhere, renamed
        self._linked = linked
        self._known: dict[_Key, frozenset[str] | None] = {}

    def of(self, called: Node) -> frozenset[str] | None:
        """What an expression that is called may be; None where that isn't plain."""
        return self._of(called, frozenset())

    def _of(self, value: Node, seen: frozenset[_Key]) -> frozenset[str] | None:
        plain = _plain(value)
        if plain.type == "conditional_expression":
            arms = (plain.child_by_field_name(it) for it in ("consequence", "alternative"))
            return self._all((it for it in arms if it is not None), seen)
        if plain.type == "null" or (plain.type == "number_literal" and text_of(plain) == b"0"):
            return frozenset()
        name = _base(plain)
        if name is None:
            return None
        around = enclosing_function(name)
        own = around is not None and name.type == "identifier" and is_local(around, text_of(name))
        if name.type == "identifier" and not own and self._is_function(text_of(name)):
            return frozenset({text_of(name).decode("latin-1")})
        return self._held(around if own else None, name, seen)

    def _is_function(self, name: bytes) -> bool:
        declared = [it for it in self._units.named(name) if is_declarator(it)]
        kinds = {it.parent.type for it in declared if it.parent is not None}
        return kinds == {"function_declarator"} or bool(self._units.definitions(name))

    def _all(self, values: Iterator[Node], seen: frozenset[_Key]) -> frozenset[str] | None:
        found = frozenset[str]()
        for value in values:
            held = self._of(value, seen)
            if held is None:
                return None
            found |= held
        return found

    def _held(
        self, function: Node | None, name: Node, seen: frozenset[_Key]
    ) -> frozenset[str] | None:
        """What a variable, a parameter or a member may hold."""
        key = (function.id if function is not None else None, text_of(name), name.type)
        if key in seen:
            return frozenset()
        if key not in self._known or seen:
            values = self._set_to(function, name)
            found = None if values is None else self._all(iter(values), seen | {key})
            if seen:
                return found
            self._known[key] = found
        return self._known[key]

    def _set_to(self, function: Node | None, name: Node) -> list[Node] | None:
        """All expressions that it is set to."""
        text = text_of(name)
        if function is None and self._elsewhere(text.decode("latin-1")):
            return None
        found: list[Node] = []
        is_variable = function is None and name.type == "identifier"
        if is_variable and (self._is_another_ones(text) or self._has_another_name(text)):
            return None
        for node in captured(function, _NAMES, "it") if function else self._units.named(text):
            if node.type != name.type or text_of(node) != text:
                continue
            around = enclosing_function(node) if function is None else None
            if around is not None and node.type == "identifier" and is_local(around, text):
                continue
            values = self._set_at(node)
            if values is None:
                return None
            found += values
        if function is not None and (place := parameter_place(function, text)) is not None:
            handed = self._handed(function, place)
            return None if handed is None else found + handed
        return found

    def _is_another_ones(self, name: bytes) -> bool:
        """Whether no file here defines a variable: a library may set it."""
        declared = (next((it for it in ancestors(node) if it.type == "declaration"), None)
                    for node in self._units.named(name) if is_declarator(node))  # fmt: skip
        return all(it is None or text_of(it).startswith(b"extern") for it in declared)

    def _has_another_name(self, name: bytes) -> bool:
        """Whether a variable may be set by one: an alias, an asm label, the linker's."""
        return self._units.is_another_ones(name) or self._linked(name.decode("latin-1"))

    def _handed(self, function: Node, place: int) -> list[Node] | None:
        """What calls hand over as a parameter; nothing where a whole program never calls it."""
        name = function_name(function)
        calls = list(self._units.calls(name))
        if any(it.type != "call_expression" for it in calls):
            return None
        if self._elsewhere(name.decode("latin-1")):
            return None
        if not calls and not self._is_never_called(name):
            return None
        lists = [arguments_of(it) for it in calls]
        return None if any(len(it) <= place for it in lists) else [it[place] for it in lists]

    def _is_never_called(self, name: bytes) -> bool:
        """Whether a function that C doesn't call has no other caller: the program is whole, and
        nothing has another name for it."""
        by_start_up = (b"main", self._units.entry)
        is_whole = bool(self._units.definitions(self._units.entry)) and name not in by_start_up
        return is_whole and not self._renamed(name.decode("latin-1"))

    def _set_at(self, node: Node) -> list[Node] | None:
        """What a place sets it to; nothing where it only reads it."""
        if is_declarator(node):
            return self._declared(node)
        whole = node.parent if node.type == "field_identifier" else node
        if whole is None:
            return None
        if whole.type == "field_designator":
            pair = whole.parent
            value = pair.child_by_field_name("value") if pair is not None else None
            return [value] if value is not None and value.type != "initializer_list" else None
        part = whole
        while (outer := part.parent) is not None and (
            outer.type == "parenthesized_expression" or _is_element(part, outer)
        ):
            part = outer
        if outer is None or (part == whole and self._units.is_array(text_of(node))):
            return None  # an array's address goes elsewhere
        if outer.type == "assignment_expression":
            if outer.child_by_field_name("right") == part:
                return []
            sign, right = outer.child_by_field_name("operator"), outer.child_by_field_name("right")
            return [right] if sign is not None and text_of(sign) == b"=" and right else None
        sign = outer.child_by_field_name("operator")
        asks = sign is not None and text_of(sign) in _ASKS
        return [] if asks or outer.type in _READS else None

    def _declared(self, node: Node) -> list[Node] | None:
        """What a declaration sets it to."""
        for around in ancestors(node):
            if around.type == "init_declarator":
                value = around.child_by_field_name("value")
                if value is None or value.type != "initializer_list":
                    return [] if value is None else [value]
                listed = value.named_children
                is_array = any(it.type == "array_declarator" for it in ancestors(node))
                plain = all(it.type not in ("initializer_list", "initializer_pair", "comment")
                            for it in listed)  # fmt: skip
                return listed if is_array and plain else None
            if around.type == "field_declaration":
                return self._listed(around)
            if around.type in ("declaration", "parameter_declaration"):
                return []
        return None

    def _listed(self, field: Node) -> list[Node] | None:
        """What lists without names may set a member to; None where it is of a union or its struct a
        part of another."""
        struct = next((it for it in ancestors(field) if it.type.endswith("_specifier")), None)
        if struct is None or struct.type != "struct_specifier":
            return None
        tag = struct.child_by_field_name("name")
        names = [text_of(tag)] if tag is not None else []
        names += _types_named(struct)
        uses, seen = [struct], set[bytes]()
        while names:
            name = names.pop()
            if name not in seen:
                seen.add(name)
                uses += (found := self._units.named(name))
                names += [other for it in found for other in _types_named(it)]
        parts = [_without_names(it) for it in uses]
        if any(it is None for it in parts):
            return None
        return [it for part in parts for it in part or ()]


def _types_named(kind: Node) -> list[bytes]:
    """The names that a typedef makes of a type."""
    around = next((it for it in ancestors(kind) if it.type == "type_definition"), None)
    kinds = around.children_by_field_name("declarator") if around is not None else ()
    return [text_of(it) for it in kinds if it.type == "type_identifier"]


def _without_names(kind: Node) -> list[Node] | None:
    """Parts that aren't named in the lists of a declaration of a type, but for plain numbers and
    texts; None where it is that of a member."""
    for around in ancestors(kind):
        if around.type == "field_declaration":
            declared = around.children_by_field_name("declarator")
            pointers = bool(declared) and all(it.type == "pointer_declarator" for it in declared)
            return [] if pointers else None
        if around.type in ("declaration", "compound_literal_expression"):
            parts = [it for found in captured(around, _LISTS, "it") for it in found.named_children]
            return [it for it in parts if it.type not in _NO_FUNCTION]
        if around.type in ("function_definition", "type_definition"):
            return []
    return []


def _plain(value: Node) -> Node:
    """Without parentheses, casts, and the address or the contents of a function."""
    while True:
        inner = None
        if value.type == "pointer_expression":
            inner = value.child_by_field_name("argument")
        elif value.type in _SAME:
            inner = value.child_by_field_name("value") or (
                value.named_children[0] if value.named_child_count == 1 else None
            )
        if inner is None:
            return value
        value = inner


def _base(value: Node) -> Node | None:
    """The variable or the member that an expression is, or an element of."""
    while value.type == "subscript_expression":
        argument = value.child_by_field_name("argument")
        if argument is None:
            return None
        value = argument
    if value.type == "field_expression":
        return value.child_by_field_name("field")
    return value if value.type == "identifier" else None


def _is_element(part: Node, outer: Node) -> bool:
    if outer.type == "pointer_expression":
        sign = outer.child_by_field_name("operator")
        return sign is not None and text_of(sign) == b"*"
    return outer.type == "subscript_expression" and outer.child_by_field_name("argument") == part
