"""What the names of namespaces and classes stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from porter.source.arithmetic import binary
from porter.source.c_tree import Node
from porter.source.c_types import CType, TypeTable
from porter.source.scoped_names import Path, Scoped
from porter.source.values import Number, Place, Pointer, Value

if TYPE_CHECKING:
    from porter.source.evaluate import Scope

_MAX_DEPTH = 40  # names defined by names


class Values(Protocol):
    """Evaluates expressions."""

    def value(self, node: Node, scope: Scope, depth: int) -> Value | None:
        """The value of an expression."""

    def initial(
        self, kind: CType, value: Node | None, scope: Scope, depth: int = 0
    ) -> Value | None:
        """What an object begins with."""


class ScopedValues:
    """Answers for one translation unit. Where a name may be several things with several values,
    it has none."""

    def __init__(self, types: TypeTable, values: Values) -> None:
        self._types = types
        self._values = values
        self._known: dict[int, Value | None] = {}

    def everywhere(self, name: bytes, depth: int = 0) -> Value | None:
        """What the constants of this name are, if all are the same."""
        values = self.constants(name, depth)
        return values.pop() if len(values) == 1 else None

    def constants(self, name: bytes, depth: int = 0) -> set[Value | None]:
        """What the constants of this name are, in whatever namespace or class."""
        found = self._types.scoped.get(name, ())
        return {self._value(it, depth) for it in found if it.is_const or it.is_enumerator}

    def within(self, name: bytes, path: Path) -> Value | None:
        """What a name means inside these namespaces and classes, innermost first; None if it is
        none of theirs."""
        named = self._types.scoped.get(name, ())
        found = [it for it in named if it.path == path[: len(it.path)]]
        deepest = max((len(it.path) for it in found), default=0)
        values = {self._value(it, 0) for it in found if len(it.path) == deepest}
        return values.pop() if len(values) == 1 else None

    def qualified(self, name: bytes, path: Path, depth: int = 0) -> Value | None:
        """What `path::name` is."""
        found = self._types.scoped.get(name, ())
        values = {self._value(it, depth) for it in found if it.path[-len(path) :] == path}
        return values.pop() if len(values) == 1 else None

    def _value(self, name: Scoped, depth: int) -> Value | None:
        if id(name) not in self._known:
            self._known[id(name)] = None  # a name that is defined by itself has no value
            self._known[id(name)] = self._find(name, depth)
        return self._known[id(name)]

    def _find(self, name: Scoped, depth: int) -> Value | None:
        if depth > _MAX_DEPTH:
            return None

        def beside(other: bytes) -> Value | None:
            return self.within(other, name.path)

        if name.is_enumerator:
            first = self._values.value(name.value, beside, depth + 1) if name.value else Number(0)
            return binary(b"+", first, Number(name.steps)) if isinstance(first, Number) else None
        if name.specifier is None:
            return None
        kind = self._types.of(name.specifier, name.declarator)
        begins = name.value if name.is_const else None
        value = self._values.initial(kind, begins, beside, depth + 1)
        return value if value is not None else typed_place(kind)


def typed_place(kind: CType) -> Value | None:
    """The value of a variable of which only the type is known."""
    if kind.kind == "pointer" and kind.target is not None:
        return Pointer(None, kind.target)
    return Place(None, kind) if kind.kind in ("struct", "array") else None
