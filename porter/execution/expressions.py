"""Evaluates the expressions of a run: values, places in memory, and what they do to both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from porter.execution.location import fitted
from porter.execution.places import Places
from porter.execution.words import (
    FunctionName,
    Memory,
    Pointer,
    Value,
    calculated,
    inverted,
    join,
    number,
    truth,
)
from porter.source.c_tree import Node, operands, strip_parentheses, text_of
from porter.source.c_types import UNKNOWN, CType
from porter.source.values import Number

if TYPE_CHECKING:
    from porter.execution.frame import Frame
    from porter.execution.machine import Machine


class Expressions:
    """The expressions of one machine."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.places = Places(machine, self)
        self._handlers: Mapping[str, Callable[[Node, Frame], Value]] = {
            "identifier": self._loaded,
            "field_expression": self._loaded,
            "subscript_expression": self._loaded,
            "pointer_expression": self._pointer,
            "number_literal": self._literal,
            "char_literal": self._literal,
            "true": lambda _node, _frame: 1,
            "false": lambda _node, _frame: 0,
            "null": lambda _node, _frame: 0,
            "cast_expression": self._cast,
            "unary_expression": self._unary,
            "binary_expression": self._binary,
            "assignment_expression": self._assignment,
            "update_expression": self._update,
            "conditional_expression": self._conditional,
            "comma_expression": self._comma,
            "call_expression": self._call,
            "sizeof_expression": self._sizeof,
            "gnu_asm_expression": self._asm,
            "compound_literal_expression": self._compound,
            "compound_statement": self._statements,
        }

    def value(self, node: Node, frame: Frame) -> Value:
        """What an expression gives; its effects happen."""
        self.machine.step()
        node = strip_parentheses(node)
        if node.type == "parenthesized_expression" and node.named_child_count:
            node = node.named_children[-1]
        handler = self._handlers.get(node.type)
        return handler(node, frame) if handler is not None else None

    # --- node types --------------------------------------------------------------------------

    def _loaded(self, node: Node, frame: Frame) -> Value:
        if node.type == "identifier":
            name = text_of(node).decode("latin-1")
            place = self.machine.variables.find(name, frame)
            if place is None:
                return self.machine.variables.constant(name, frame)
            return self.places.load(place, frame, node)
        return self.places.load(self.places.find(node, frame), frame, node)

    def _pointer(self, node: Node, frame: Frame) -> Value:
        operand = node.child_by_field_name("argument")
        if operand is None:
            return None
        if text_of(node).startswith(b"*"):
            value = self.value(operand, frame)
            if isinstance(value, FunctionName):
                return value
            return self.places.load(self.places.target(value), frame, node)
        place = self.places.find(operand, frame)
        if place is not None:
            return Pointer(place.memory, place.offset, place.type)
        value = self.value(operand, frame)
        return value if isinstance(value, FunctionName) else None

    def _literal(self, node: Node, frame: Frame) -> Value:
        found = self.machine.unit(frame).evaluator.value(node)
        return found.value if isinstance(found, Number) else None

    def argument(self, node: Node, frame: Frame) -> Value:
        """The operand of a unary expression."""
        operand = node.child_by_field_name("argument")
        return None if operand is None else self.value(operand, frame)

    def type_of(self, descriptor: Node, frame: Frame) -> CType:
        """The type that a type name says."""
        specifier = descriptor.child_by_field_name("type")
        if specifier is None:
            return UNKNOWN
        declarator = descriptor.child_by_field_name("declarator")
        return self.machine.types(frame).of(specifier, declarator)

    def _cast(self, node: Node, frame: Frame) -> Value:
        descriptor, operand = node.child_by_field_name("type"), node.child_by_field_name("value")
        if descriptor is None or operand is None:
            return None
        value = self.value(operand, frame)
        kind = self.type_of(descriptor, frame)
        if kind.kind == "pointer" and kind.target is not None:
            if isinstance(value, Pointer):
                return Pointer(value.memory, value.offset, kind.target)
            address = number(value)
            return Pointer(None, address & 0xFFFF_FFFF, kind.target) if address else value
        if isinstance(value, Pointer) and value.memory is None:
            return value.offset
        return fitted(value, kind)

    def _unary(self, node: Node, frame: Frame) -> Value:
        sign = node.child_by_field_name("operator")
        value = self.argument(node, frame)
        match text_of(sign) if sign is not None else b"":
            case b"!":
                found = truth(value)
                return None if found is None else int(not found)
            case b"~":
                return inverted(value)
            case b"-":
                known = number(value)
                return None if known is None else -known
            case b"+":
                return value
        return None

    def _binary(self, node: Node, frame: Frame) -> Value:
        if (parts := operands(node)) is None:
            return None
        left, operator, right = parts
        first = self.value(left, frame)
        if operator in (b"&&", b"||"):
            known = truth(first)
            if known is not None and known == (operator == b"||"):
                return int(known)
            second = truth(self.value(right, frame))
            if second is not None and second == (operator == b"||"):
                return int(second)
            return None if known is None or second is None else int(second)
        return self.operation(operator, first, self.value(right, frame))

    @staticmethod
    def operation(operator: bytes, left: Value, right: Value) -> Value:
        """A binary operation; pointers move by whole objects."""
        if isinstance(right, Pointer) and operator == b"+" and not isinstance(left, Pointer):
            left, right = right, left
        if isinstance(left, Pointer) and operator in (b"+", b"-") and not isinstance(
            right, Pointer
        ):  # fmt: skip
            step = number(right)
            if step is None or left.offset is None:
                return Pointer(left.memory, None, left.type)
            by = step * (left.type.size or 1) * (1 if operator == b"+" else -1)
            return Pointer(left.memory, left.offset + by, left.type)
        return calculated(operator, left, right)

    def _assignment(self, node: Node, frame: Frame) -> Value:
        if (parts := operands(node)) is None:
            return None
        left, operator, right = parts
        if operator == b"=":
            value = self.value(right, frame)
            place = self.places.find(left, frame)
        else:
            place = self.places.find(left, frame)
            old = self.places.load(place, frame, node)
            value = self.operation(operator[:-1], old, self.value(right, frame))
        self.places.store(place, value, frame, node)
        return value

    def _update(self, node: Node, frame: Frame) -> Value:
        operand = node.child_by_field_name("argument")
        sign = node.child_by_field_name("operator")
        if operand is None or sign is None:
            return None
        place = self.places.find(operand, frame)
        old = self.places.load(place, frame, node)
        new = self.operation(text_of(sign)[:1], old, 1)
        self.places.store(place, new, frame, node)
        return new if node.children[0] == sign else old

    def _conditional(self, node: Node, frame: Frame) -> Value:
        condition = node.child_by_field_name("condition")
        known = truth(self.value(condition, frame)) if condition is not None else None
        arms = [node.child_by_field_name(name) for name in ("consequence", "alternative")]
        if known is not None:
            arm = arms[0 if known else 1]
            return self.value(arm, frame) if arm is not None else None
        values = [self.value(arm, frame) for arm in arms if arm is not None]
        return join(values[0], values[1]) if len(values) == 2 else None

    def _comma(self, node: Node, frame: Frame) -> Value:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None:
            self.value(left, frame)
        return self.value(right, frame) if right is not None else None

    def _call(self, node: Node, frame: Frame) -> Value:
        return self.machine.call(node, frame)

    def _sizeof(self, node: Node, frame: Frame) -> Value:
        descriptor = node.child_by_field_name("type")
        if descriptor is not None:
            kind = self.type_of(descriptor, frame)
        else:
            operand = node.child_by_field_name("value")
            place = self.places.find(operand, frame) if operand is not None else None
            kind = place.type if place is not None else UNKNOWN
        return kind.size or None

    def _asm(self, node: Node, frame: Frame) -> Value:
        self.machine.assembler(node, frame)
        return None

    def _compound(self, node: Node, frame: Frame) -> Value:
        descriptor, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        if descriptor is None or value is None:
            return None
        kind = self.type_of(descriptor, frame)
        memory = Memory("literal", zero=True, local=True)
        self.machine.initialise(memory, 0, kind, value, frame)
        return Pointer(memory, 0, kind)

    def _statements(self, node: Node, frame: Frame) -> Value:
        """`({ ... })`: the value isn't followed."""
        self.machine.block(node, frame)
        return None
