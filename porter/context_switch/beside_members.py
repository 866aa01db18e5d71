"""Reads of a word of a task's block by its distance from another member: from the address of one,
or outside of an array.

Of what is addressed each other word counts. An array is there to be walked through, so of what
begins there only that counts which surely lies outside of it, or in front.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import calculation, is_based_on, is_local, uses_in
from porter.context_switch.c_words import bodies
from porter.source.c_tree import (
    Node,
    captured,
    enclosing_function,
    index_of,
    outermost,
    query,
    strip_parentheses,
    text_of,
    walk,
)

CHANGES = query("[(assignment_expression) (update_expression)] @it")


@dataclass(frozen=True)
class _Address:
    """`is_alone`: of a member, and no element of one. `moved`: by some distance. `begins`: it is an
    array, of so many elements, 0 where nobody knows."""

    node: Node
    is_alone: bool = False
    moved: bool = False
    begins: int | None = None


class BesideMembers:
    """Looks at blocks of some types. `other_types`: names of the types under which a pointer is
    followed that isn't one to a block."""

    def __init__(
        self, types: set[bytes], units: CUnits, other_types: Callable[[Node], set[bytes] | None]
    ) -> None:
        self._types, self._units, self._other_types = types, units, other_types

    def words(self, members: Iterable[Node]) -> list[Node]:
        """Such reads, by expressions that are members of blocks."""
        waiting = [it for member in members for it in self._addresses(member)]
        found: list[Node] = []
        seen: set[tuple[int, bool, bool]] = set()
        while waiting:
            address = waiting.pop()
            for node, parent in self._units.ends([address.node]):
                key = (parent.id, address.moved, address.begins is None)
                if key in seen:
                    continue
                seen.add(key)
                waiting += self._moved(address, node, parent)
                if self._is_followed(address, node, parent):
                    found.append(_whole(parent))
        return found

    def _addresses(self, member: Node) -> Iterator[_Address]:
        """The expression that is the address of a member, or of a part of one, if one is taken; and
        arrays on the way there."""
        place, path, levels = member, _field(member), self._levels(member)
        while True:
            if levels:
                yield _Address(place, begins=self._elements(place, path))
            outer = outermost(place)
            around = outer.parent
            if around is None or around.child_by_field_name("argument") != outer:
                return
            if has_sign(around, b"&"):
                yield _Address(around, is_alone=place.type == "field_expression")
            if around.type == "field_expression" and sign_of(around) == b".":
                path, levels = path + b"." + _field(around), self._levels(around)
            elif around.type == "subscript_expression":
                path, levels = path + b"[0]", max(0, levels - 1)
            else:
                return
            place = around

    def _levels(self, member: Node) -> int:
        """Dimensions of members of this name, as far as their declarations say that."""
        levels = 0
        for node in self._units.named(_field(member)):
            if node.type != "field_identifier":
                continue
            own, around = 0, node.parent
            while around is not None and around.type == "array_declarator":
                own, around = own + 1, around.parent
            kind = around.child_by_field_name("type") if around is not None else None
            if around is not None and around.type == "field_declaration" and kind is not None:
                own += kind.type == "type_identifier" and self._is_of_arrays(text_of(kind))
            levels = max(levels, own)
        return levels

    def _is_of_arrays(self, name: bytes) -> bool:
        """Whether a type's name stands for an array."""
        around = (node.parent for node in self._units.named(name) if node.type == "type_identifier")
        return any(it is not None and it.type == "array_declarator" for it in around)

    def _elements(self, near: Node, path: bytes) -> int:
        for name in sorted(self._types):
            for kind in (name.decode(), f"struct {name.decode()}"):
                member = f"(({kind} *)0)->{path.decode('latin-1')}"
                found = self._units.constant(near, f"sizeof({member}) / sizeof(({member})[0])")
                if found is not None:
                    return found
        return 0

    def _moved(self, address: _Address, node: Node, parent: Node) -> Iterator[_Address]:
        """What is calculated from an address; inside of an array, nothing."""
        around = enclosing_function(node)
        if (sign := calculation(parent)) is not None:
            if address.begins is None or self._leaves(address.begins, node, parent, sign):
                yield _Address(parent, moved=True)
        elif node.type == "identifier" and around is not None and steps(parent, text_of(node)):
            signs = {(sign_of(it) or b"")[:1] for it in captured(around, CHANGES, "it")
                     if steps(it, text_of(node))}  # fmt: skip
            if address.begins is None or signs == {b"-"}:
                yield from (_Address(it, moved=True) for it in uses_in(around, text_of(node)))

    def _leaves(self, elements: int, array: Node, whole: Node, sign: bytes) -> bool:
        """Whether a calculation with an array's address may lead out of it."""
        left, right = whole.child_by_field_name("left"), whole.child_by_field_name("right")
        other = right if left == array else left
        if other is None or sign not in (b"+", b"-"):
            return True
        if sign == b"-":
            return left == array
        return self._is_outside(self._number(other), elements, array)

    def _is_followed(self, address: _Address, pointer: Node, parent: Node) -> bool:
        """Whether what is around a pointer goes to something that lies in front or behind."""
        if parent.type == "subscript_expression" and is_based_on(parent, pointer):
            base = parent.child_by_field_name("argument")
            other = index_of(parent) if base == pointer else base
            number = self._number(other) if other is not None else None
            if address.begins is not None:
                return self._is_outside(number, address.begins, pointer)
            if address.is_alone and number is not None and not address.moved:
                return number != 0
            return (address.moved or number != 0) and self._is_plain(pointer)
        return address.moved and has_sign(parent, b"*") and self._is_plain(pointer)

    def _is_outside(self, number: int | None, elements: int, pointer: Node) -> bool:
        """Whether an index surely is. An array of one, or of none, may have more: behind a block
        that ends with it. Under another type elements are smaller or larger: to 8 times as many."""
        if number is None or number < 0:
            return number is not None
        is_cast = any(it.type == "cast_expression" for it in walk(pointer))
        return elements > 1 and number >= elements * (8 if is_cast else 1)

    def _number(self, index: Node) -> int | None:
        """What a constant is, which may be negative; None for what depends on variables."""
        around = enclosing_function(index)
        names = [text_of(it) for it in walk(index) if it.type in ("identifier", "field_identifier")]
        if around is not None and any(is_local(around, it) for it in names):
            return None
        number = self._units.word(index, text_of(index).decode("latin-1"))
        return None if number is None else number - (number >> 31 << 32)

    def _is_plain(self, pointer: Node) -> bool:
        """Whether it leads to a word or a byte, not to a struct: members have names."""
        pointer = strip_parentheses(pointer)
        inner = pointer.child_by_field_name("left")
        if pointer.type == "subscript_expression" or has_sign(pointer, b"&"):
            inner = pointer.child_by_field_name("argument")
        if inner is not None:
            return self._is_plain(inner)
        names = self._other_types(pointer)
        return names is not None and not any(
            True for name in names for _ in bodies(name, self._units)
        )


def _field(member: Node) -> bytes:
    return text_of(member.child_by_field_name("field") or member)


def _whole(part: Node) -> Node:
    """A member of an element, as a whole."""
    outer = outermost(part)
    around = outer.parent
    is_part = around is not None and around.child_by_field_name("argument") == outer
    if around is None or not is_part or sign_of(around) != b".":
        return part
    return _whole(around)


def steps(node: Node, name: bytes) -> bool:
    """Whether a variable becomes more or less by an expression."""
    place = node.child_by_field_name("left") or node.child_by_field_name("argument")
    is_change = node.type == "update_expression" or (
        node.type == "assignment_expression" and sign_of(node) != b"="
    )
    return is_change and place is not None and text_of(place) == name


def sign_of(node: Node) -> bytes | None:
    """The operator of an expression."""
    sign = node.child_by_field_name("operator")
    return None if sign is None else text_of(sign)


def has_sign(node: Node, sign: bytes) -> bool:
    """Whether it follows a pointer (*) or is an address (&)."""
    return node.type == "pointer_expression" and text_of(node).startswith(sign)
