"""Initialisers of objects: lists, designators, strings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from porter.execution.location import Location
from porter.execution.words import Memory
from porter.source.c_tree import Node, text_of
from porter.source.c_types import CType

if TYPE_CHECKING:
    from porter.execution.expressions import Expressions
    from porter.execution.frame import Frame

_MOST = 4096  # elements of one list


def counted(kind: CType, value: Node | None) -> CType:
    """The type of an array that its initialiser gives the length: `int a[] = {1, 2}`."""
    if value is None or kind.kind != "array" or kind.count or kind.target is None:
        return kind
    if value.type != "initializer_list":
        return kind
    count = sum(child.type != "comment" for child in value.named_children)
    return replace(kind, size=kind.target.size * count, count=count)


def initialise(
    expressions: Expressions, memory: Memory, offset: int, kind: CType, value: Node, frame: Frame
) -> None:
    """Set an object from its initialiser."""
    if value.type != "initializer_list":
        place = Location(memory, offset, kind)
        expressions.places.store(place, expressions.value(value, frame), frame, value)
        return
    memory.zero = True
    members = list(expressions.machine.types(frame).members(kind).items())
    if kind.kind not in ("struct", "array"):
        for child in value.named_children[:1]:
            initialise(expressions, memory, offset, kind, child, frame)
        return
    position = 0
    for child in value.named_children[:_MOST]:
        if child.type == "comment":
            continue
        item = child
        if child.type == "initializer_pair":
            inner = child.child_by_field_name("value")
            found = _designated(expressions, child, members, frame)
            if inner is None or found is None:
                continue
            position, item = found, inner
        if kind.kind == "array" and kind.target is not None:
            at = offset + position * (kind.target.size or 1)
            initialise(expressions, memory, at, kind.target, item, frame)
        elif position < len(members):
            member = members[position][1]
            if member.part:
                memory.cells[offset + member.offset] = None
                position += 1
                continue
            initialise(expressions, memory, offset + member.offset, member.type, item, frame)
        position += 1


def _designated(
    expressions: Expressions, pair: Node, members: Sequence[tuple[bytes, object]], frame: Frame
) -> int | None:
    """The position that `.name =` or `[index] =` means."""
    designator = pair.child_by_field_name("designator")
    if designator is None or not designator.named_children:
        return None
    inner = designator.named_children[0]
    if designator.type == "field_designator":
        names = [name for name, _ in members]
        name = text_of(inner)
        return names.index(name) if name in names else None
    value = expressions.value(inner, frame)
    return value if isinstance(value, int) else None
