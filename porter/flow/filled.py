"""What a list in braces puts where, as C fills structs and arrays from it (C11 6.7.9)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porter.flow.static_types import StaticTypes
from porter.source.c_tree import Node, parts_of, text_of
from porter.source.c_types import CType

_PARTS = ("struct", "array")


@dataclass(frozen=True)
class Filled:
    """A value gets into an object of a type, a member of `owner` if that is said. `value` None: the
    list isn't understood, and the object may hold anything."""

    kind: CType
    value: Node | None
    owner: CType | None = None
    member: bytes = b""
    is_part: bool = False


def filled(node: Node, kind: CType, types: StaticTypes) -> Iterator[Filled]:
    """Of an initializer_list, and of those in it. What it leaves out is 0."""
    items = parts_of(node)
    if kind.kind == "array" and kind.target is not None:
        for item in items:
            yield from _element(item, kind.target, types)
    elif kind.kind == "struct":
        yield from _fields(items, kind, types)
    else:
        yield from (Filled(kind, item) for item in items)


def _element(item: Node, kind: CType, types: StaticTypes) -> Iterator[Filled]:
    value: Node | None = item
    if item.type == "initializer_pair":
        places = item.children_by_field_name("designator")
        is_index = len(places) == 1 and places[0].type != "field_designator"
        value = item.child_by_field_name("value") if is_index else None
    if value is not None and value.type == "initializer_list":
        yield from filled(value, kind, types)
    elif kind.kind in _PARTS:
        yield Filled(kind, None)  # without braces of its own, or an object
    else:
        yield Filled(kind, value)


def _fields(items: Sequence[Node], kind: CType, types: StaticTypes) -> Iterator[Filled]:
    members = list(types.types.members(kind).items())
    names = [name for name, _ in members]
    if len(items) == 1 and text_of(items[0]) == b"0":
        return
    place = 0
    for item in items:
        value: Node | None = item
        if item.type == "initializer_pair":
            places = item.children_by_field_name("designator")
            name = text_of(places[0]).lstrip(b".").strip() if len(places) == 1 else b""
            place = names.index(name) if name in names else len(names)
            value = item.child_by_field_name("value")
        if place >= len(members) or value is None:
            yield Filled(kind, None)
            return
        name, member = members[place]
        place += 1
        if value.type == "initializer_list":
            yield from filled(value, member.type, types)
        if member.type.kind not in _PARTS:
            yield Filled(member.type, value, kind, name, member.part)
        elif value.type != "initializer_list":
            yield Filled(kind, None)
            return
