"""Addresses of the chip that functions in reach mention, run or not: casts and arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from porter.execution.program import FunctionText, Program, VariableText, Where
from porter.source.c_tree import Node, ancestors, text_of, walk
from porter.source.values import Number, Pointer

_LOWEST = 0x4000_0000
_HIGHEST = 0x6000_0000
_MOST_PLACES = 64
_COMPARED = frozenset({b"==", b"!="})


class Reach:
    """What the entry points lead to: a walk over names. `bases` are the addresses of interest.

    `taken`: functions that are not only called; `called`: names of functions that aren't in the
    sources; `addresses`: each with the lines that mention it.
    """

    def __init__(self, program: Program, entries: Iterable[str], bases: Iterable[int]) -> None:
        self._program = program
        self._bases = frozenset(bases)
        self.taken: dict[str, FunctionText] = {}
        self.called: set[str] = set()
        self.addresses: dict[int, list[Where]] = {}
        self._seen: set[tuple[int, int]] = set()
        self._pending: list[tuple[int, Node]] = []
        for name in entries:
            self._reach(program.functions.get(name))
        while self._pending:
            unit, node = self._pending.pop()
            self._walk(unit, node)

    def _reach(self, function: FunctionText | None) -> None:
        if function is None or (function.unit, function.node.start_byte) in self._seen:
            return
        self._seen.add((function.unit, function.node.start_byte))
        if function.body is not None:
            self._pending.append((function.unit, function.body))

    def _variable(self, variable: VariableText | None) -> None:
        if variable is None or (variable.unit, variable.declarator.start_byte) in self._seen:
            return
        self._seen.add((variable.unit, variable.declarator.start_byte))
        if variable.value is not None:
            self._pending.append((variable.unit, variable.value))

    def _walk(self, unit: int, root: Node) -> None:
        for node in walk(root):
            if node.type == "identifier":
                self._name(unit, node)
            elif node.type in ("cast_expression", "number_literal", "binary_expression"):
                self._address(unit, node)

    def _name(self, unit: int, node: Node) -> None:
        name = text_of(node).decode("latin-1")
        function = self._program.function(unit, name)
        if function is None:
            self._variable(self._program.variable(unit, name))
            if _is_callee(node):
                self.called.add(name)
            return
        if not _is_callee(node):
            self.taken.setdefault(name, function)
        self._reach(function)

    def _address(self, unit: int, node: Node) -> None:
        parent = node.parent
        while parent is not None and parent.type == "parenthesized_expression":
            parent = parent.parent
        if parent is not None and parent.type == "binary_expression" and not _compares(parent):
            return  # part of a larger number
        text = self._program.units[unit]
        value = text.evaluator.value(node)
        address = None
        if isinstance(value, Pointer) and node.type == "cast_expression":
            address = value.address
        elif isinstance(value, Number) and value.value in self._bases:
            # Where the first block begins is also bit 30 of anything.
            address = value.value if value.value.bit_count() > 1 else None
        if address is None or not _LOWEST <= address < _HIGHEST or _is_compared(node):
            return
        places = self.addresses.setdefault(address, [])
        if len(places) < _MOST_PLACES:
            places.append(text.where(node))


def _is_callee(node: Node) -> bool:
    parent = node.parent
    return (
        parent is not None
        and parent.type == "call_expression"
        and parent.child_by_field_name("function") == node
    )


def _is_compared(node: Node) -> bool:
    """`instance == USART1` asks which block it is; it doesn't use that block."""
    for parent in ancestors(node):
        if parent.type == "case_statement":
            return parent.child_by_field_name("value") == node
        if parent.type not in ("parenthesized_expression", "binary_expression", "cast_expression"):
            return False
        if _compares(parent):
            return True
    return False


def _compares(node: Node) -> bool:
    sign = node.child_by_field_name("operator")
    return sign is not None and text_of(sign) in _COMPARED


def lines_of(places: Mapping[int, list[Where]], first: int, size: int) -> list[Where]:
    """The lines that mention an address in [first, first + size)."""
    return [w for address, all_ in places.items() if first <= address < first + size for w in all_]
