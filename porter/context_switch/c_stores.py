"""Whether C writes to nothing but variables, members and elements, and looks at no stack.

What a plain pointer to words or bytes leads to may be a stack, and a member may be that of a frame
on one: a struct counts if there are variables or members of it, and the pointer comes from there
(`origins`). What takes the address of a local variable may ask which stack it is on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import declared_name, is_local, local_declarations, uses_in
from porter.context_switch.c_words import (
    Word,
    accesses,
    aliases,
    bodies,
    declared_as,
)
from porter.context_switch.origins import Origins
from porter.source.c_tree import (
    Node,
    ancestors,
    enclosing_function,
    outermost,
    strip_parentheses,
    text_of,
    walk,
)
from porter.source.declarations import is_static

_SETS = frozenset({"assignment_expression", "update_expression"})
_DEVICES = 0x4000_0000  # from here on no memory that a stack may be in


class Stores:
    """Looks at function definitions. `running`: all those that run then, by the nodes' numbers."""

    def __init__(self, units: CUnits, running: Collection[int]) -> None:
        self._units = units
        self._is_object = cache(self._has_objects)
        self._origins = Origins(units, running, self._is_typed, _is_place)

    def doubts(self, definition: Node) -> Iterator[tuple[Node, str]]:
        """Expressions that aren't like that, with what they do."""
        for node in walk(definition):
            place = node.child_by_field_name("left") or node.child_by_field_name("argument")
            if node.type in _SETS and place is not None and not self._is_known(place):
                yield node, "writes through a pointer"
            elif _is_address_of_local(node, definition):
                yield node, "takes the address of a local variable"

    def _is_known(self, place: Node) -> bool:
        """Whether a place to write to is a variable, or a part of one or of an object."""
        place = strip_parentheses(place)
        argument = place.child_by_field_name("argument")
        if place.type == "identifier":
            return True
        if argument is None:
            return False
        if place.type == "field_expression":
            sign = place.child_by_field_name("operator")
            if sign is not None and text_of(sign) == b".":
                inner = strip_parentheses(argument)
                return self._leads_to_object(inner) or self._is_known(inner)
            return self._leads_to_object(argument)
        if place.type == "subscript_expression":
            return self._leads_to_object(argument) or self._is_own_array(place)
        is_followed = place.type == "pointer_expression" and text_of(place).startswith(b"*")
        return is_followed and self._leads_to_object(argument)

    def _leads_to_object(self, pointer: Node) -> bool:
        """Whether it is a pointer to, or an array of, structs that aren't only frames, and comes
        from where such structs are, or the address of a device."""
        pointer = strip_parentheses(pointer)
        if (address := _number(pointer)) is not None:
            return address >= _DEVICES
        return self._is_typed(pointer) and self._origins.is_known(pointer)

    def _is_typed(self, node: Node) -> bool:
        """Whether an expression's type says so."""
        names = self._types(node)
        return bool(names) and all(map(self._is_object, names))

    def _types(self, node: Node) -> set[bytes]:
        """Names of the types that an expression has, or leads to; none where nobody knows."""
        node = strip_parentheses(node)
        argument = node.child_by_field_name("argument")
        if node.type == "cast_expression":
            kind = node.child_by_field_name("type")
            return _named(kind)
        if node.type == "field_expression":
            member = node.child_by_field_name("field")
            return self._types_of(member) if member is not None else set()
        if node.type in ("subscript_expression", "pointer_expression") and argument is not None:
            return self._types(argument)
        if node.type != "identifier":
            return set()
        around = enclosing_function(node)
        if around is not None and is_local(around, text_of(node)):
            declared = local_declarations(around, text_of(node))
            return {name for it, _ in declared for name in _named(it.child_by_field_name("type"))}
        return self._types_of(node)

    def _types_of(self, name: Node) -> set[bytes]:
        """Those of a member, or of a variable outside of functions."""
        declared = self._declarations(name)
        return {name for it, _ in declared for name in _named(it.child_by_field_name("type"))}

    def _declarations(self, name: Node) -> Iterator[tuple[Node, Node]]:
        """Declarations of a member, or of a variable outside of functions, with the name there."""
        for node in self._units.named(text_of(name)):
            for around in ancestors(node) if node.type == name.type else ():
                if around.type in ("declaration", "field_declaration"):
                    if enclosing_function(around) is None and any(
                        declared_name(it) == node
                        for it in around.children_by_field_name("declarator")
                    ):
                        yield around, node
                    break

    def _has_objects(self, kind: bytes) -> bool:
        """Whether a struct is the type of a variable outside of functions, or of a member."""
        names = aliases(kind, self._units)
        if not any(True for name in names for _ in bodies(name, self._units)):
            return False
        for declared in (it for name in names for it in declared_as(name, self._units)):
            is_member = declared.type == "field_identifier"
            parent = declared.parent
            if enclosing_function(declared) is None and not is_member:
                return True
            if is_member and parent is not None and parent.type != "pointer_declarator":
                return True
        return False

    def _is_own_array(self, place: Node) -> bool:
        """Whether it is an element of an array that nobody has a pointer into."""
        levels = 0
        while place.type == "subscript_expression":
            argument = place.child_by_field_name("argument")
            if argument is None:
                return False
            place, levels = strip_parentheses(argument), levels + 1
        if place.type == "field_expression" and not self._is_known(place):
            return False
        around = enclosing_function(place)
        name = place.child_by_field_name("field") or place
        if name.type == "identifier" and around is not None and is_local(around, text_of(name)):
            declared = list(local_declarations(around, text_of(name)))
            uses = uses_in(around, text_of(name))
        elif name.type in ("identifier", "field_identifier"):
            declared = list(self._declarations(name))
            uses = accesses(Word(text_of(name), name.type == "field_identifier"), self._units)
        else:
            return False
        is_array = all(it.type != "parameter_declaration" and _levels(named) == levels
                       for it, named in declared)  # fmt: skip
        return bool(declared) and is_array and all(_is_element(it, levels) for it in uses)


def _is_address_of_local(node: Node, definition: Node) -> bool:
    if node.type == "compound_literal_expression":
        return True
    if node.type != "identifier" or not is_local(definition, text_of(node)):
        return False
    declared = [(declaration, name) for declaration, name
                in local_declarations(definition, text_of(node))
                if not is_static(declaration)]  # fmt: skip
    if not declared or any(name == node for _, name in declared):
        return False
    levels = _levels(declared[0][1]) if declared[0][0].type == "declaration" else 0
    place, parent = outermost(node), outermost(node).parent
    while parent is not None and parent.child_by_field_name("argument") == place:
        if parent.type == "subscript_expression" and levels:
            levels -= 1
        elif parent.type == "field_expression":
            sign = parent.child_by_field_name("operator")
            if sign is None or text_of(sign) != b".":
                return False
        else:
            break
        place, parent = outermost(parent), outermost(parent).parent
    if parent is None or parent.type == "sizeof_expression":
        return False
    is_taken = parent.type == "pointer_expression" and text_of(parent).startswith(b"&")
    return is_taken or levels > 0


def _named(kind: Node | None) -> set[bytes]:
    """What stands for a type, none of C's own."""
    while kind is not None and kind.type == "type_descriptor":
        kind = kind.child_by_field_name("type")
    if kind is not None and kind.type.endswith("_specifier"):
        kind = kind.child_by_field_name("name")
    return {text_of(kind)} if kind is not None and kind.type == "type_identifier" else set()


def _levels(name: Node) -> int:
    """Dimensions of the array that is declared; 0 for what is none."""
    levels, around = 0, name.parent
    while around is not None and around.type == "array_declarator":
        levels, around = levels + 1, around.parent
    return levels


def _is_element(use: Node, levels: int) -> bool:
    """Whether a use of an array is one of its elements, no pointer into it."""
    for _ in range(levels):
        place = outermost(use)
        parent = place.parent
        if parent is not None and parent.type == "sizeof_expression":
            return True
        if parent is None or parent.type != "subscript_expression":
            return False
        use = parent
    parent = outermost(use).parent
    is_taken = parent is not None and parent.type == "pointer_expression"
    return not (is_taken and parent is not None and text_of(parent).startswith(b"&"))


def is_device(place: Node) -> bool:
    """Whether a place is at an address that is a number."""
    argument = place.child_by_field_name("argument")
    while argument is not None:
        place = strip_parentheses(argument)
        argument = place.child_by_field_name("argument")
    address = _number(place)
    return address is not None and address >= _DEVICES


def _is_place(node: Node) -> bool | None:
    """Whether a number is the address of a device, or of nothing; None for what is none."""
    address = _number(node)
    return None if address is None else address == 0 or address >= _DEVICES


def _number(node: Node) -> int | None:
    """What a sum of numbers is; None for another expression."""
    node = strip_parentheses(node)
    if node.type == "cast_expression":
        value = node.child_by_field_name("value")
        return _number(value) if value is not None else None
    if node.type == "number_literal":
        text = text_of(node).rstrip(b"uUlL")
        return int(text, 0) if text[:2].lower() == b"0x" or text.isdigit() else None
    if node.type == "binary_expression":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        one = _number(left) if left is not None else None
        other = _number(right) if right is not None else None
        sign = node.child_by_field_name("operator")
        is_sum = sign is not None and text_of(sign) in (b"+", b"|")
        return one + other if is_sum and one is not None and other is not None else None
    return None
