"""Objects that expressions name: fields, elements, what pointers point at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from porter.execution.frame import Frame
from porter.execution.location import Location, fitted
from porter.execution.words import Pointer, Value, number
from porter.source.c_tree import Node, strip_parentheses, text_of
from porter.source.c_types import UNKNOWN

if TYPE_CHECKING:
    from porter.execution.expressions import Expressions
    from porter.execution.machine import Machine


class Places:
    """The lvalues of one machine."""

    def __init__(self, machine: Machine, expressions: Expressions) -> None:
        self.machine = machine
        self._expressions = expressions

    def find(self, node: Node, frame: Frame) -> Location | None:
        """The object that an lvalue is."""
        node = strip_parentheses(node)
        if node.type == "identifier":
            return self.machine.variables.find(text_of(node).decode("latin-1"), frame)
        if node.type == "field_expression":
            return self._field(node, frame)
        if node.type == "subscript_expression":
            return self._element(node, frame)
        if node.type == "pointer_expression" and text_of(node).startswith(b"*"):
            pointer = self._expressions.argument(node, frame)
            return self.target(pointer)
        if node.type == "compound_literal_expression":
            pointer = self._expressions.value(node, frame)
            return self.target(pointer)
        return None

    def target(self, pointer: Value) -> Location | None:
        """What a pointer points at."""
        if isinstance(pointer, Pointer):
            return Location(pointer.memory, pointer.offset, pointer.type)
        return None

    def _field(self, node: Node, frame: Frame) -> Location | None:
        operand = node.child_by_field_name("argument")
        name = node.child_by_field_name("field")
        if operand is None or name is None:
            return None
        if any(child.type == "->" for child in node.children):
            base = self.target(self._expressions.value(operand, frame))
        else:
            base = self.find(operand, frame)
        if base is None:
            return None
        member = self.machine.types(frame).members(base.type).get(text_of(name))
        if member is None or member.part:
            return Location(base.memory, None, UNKNOWN)
        offset = None if base.offset is None else base.offset + member.offset
        return Location(base.memory, offset, member.type)

    def _element(self, node: Node, frame: Frame) -> Location | None:
        operand = node.child_by_field_name("argument")
        index = node.child_by_field_name("index")
        if operand is None or index is None:
            return None
        base, step = (
            self._expressions.value(operand, frame),
            number(self._expressions.value(index, frame)),
        )
        if not isinstance(base, Pointer):
            return None
        if base.offset is None or step is None:
            return Location(base.memory, None, base.type)
        return Location(base.memory, base.offset + step * (base.type.size or 1), base.type)

    def load(self, place: Location | None, frame: Frame, node: Node) -> Value:
        """What an object holds; arrays and structs give a pointer to themselves."""
        if place is None:
            return None
        kind = place.type
        if kind.kind == "array":
            return Pointer(place.memory, place.offset, kind.target or UNKNOWN)
        if kind.kind == "struct":
            return Pointer(place.memory, place.offset, kind)
        value = self.machine.load(place.memory, place.offset, frame, node)
        if kind.kind == "pointer" and isinstance(value, Pointer) and kind.target is not None:
            known = kind.target.kind == "unknown" or kind.target.name == b"void"
            return value if known else Pointer(value.memory, value.offset, kind.target)
        return value

    def store(self, place: Location | None, value: Value, frame: Frame, node: Node) -> None:
        """Writes a value; a struct is copied."""
        if place is None:
            return
        if place.type.kind == "struct" and isinstance(value, Pointer):
            self.machine.copy(place.memory, place.offset, value, place.type.size)
            return
        self.machine.store(place.memory, place.offset, fitted(value, place.type), frame, node)
