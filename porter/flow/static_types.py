"""The types of expressions of C that the preprocessor has left: what an address may lead to.

Only what the rules of C say of an expression is said. The type of everything else isn't known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from porter.source.c_tree import Node, operands, parts_of, strip_parentheses, text_of
from porter.source.c_types import INT, UNKNOWN, CType, TypeTable, pointer_to
from porter.source.declarations import parameter_list
from porter.source.declared import declared_name

Names = Mapping[bytes, tuple[Node, Node]]
"""Type and declarator of what a function declares."""

_NUMBERS = frozenset(
    {"number_literal", "char_literal", "true", "false", "sizeof_expression", "alignof_expression",
     "offsetof_expression", "unary_expression"}
)  # fmt: skip


class StaticTypes:
    """Answers for one translation unit."""

    def __init__(self, types: TypeTable) -> None:
        self.types = types

    def declared(self, name: bytes, names: Names) -> tuple[Node, Node] | None:
        """How a variable or a function is declared where it is named."""
        return names.get(name) or self.types.globals.get(name)

    def of(self, node: Node | None, names: Names) -> CType:
        """The type of an expression, before an array becomes a pointer."""
        if node is None:
            return UNKNOWN
        node = strip_parentheses(node)
        if node.type in _NUMBERS:
            return INT
        handler = getattr(self, "_" + node.type, None)
        found: CType = handler(node, names) if handler is not None else UNKNOWN
        return found

    def described(self, descriptor: Node | None) -> CType:
        """The type that a cast or a parameter names."""
        kind = descriptor.child_by_field_name("type") if descriptor is not None else None
        if descriptor is None or kind is None:
            return UNKNOWN
        return self.types.of(kind, descriptor.child_by_field_name("declarator"))

    def parameters(self, declarator: Node) -> list[CType] | None:
        """Those of a function; None where it isn't said."""
        found = parameter_list(declarator)
        items = parts_of(found)
        if found is None or not items:
            return None
        if len(items) == 1 and text_of(items[0]) == b"void":
            return []
        named = (it for it in items if it.type == "parameter_declaration")
        return [decayed(self.described(it)) for it in named]

    def member(self, node: Node, names: Names) -> tuple[CType, bytes]:
        """The struct that `x.m` or `p->m` is in, and m."""
        base = decayed(self.of(node.child_by_field_name("argument"), names))
        if any(child.type == "->" for child in node.children):
            base = base.target or UNKNOWN
        field = node.child_by_field_name("field")
        return base, text_of(field) if field is not None else b""

    def shown(self, kind: CType) -> bytes:
        """A type as all files say it that mean the same."""
        if kind.kind in ("pointer", "array", "function"):
            return kind.kind[:1].encode() + b" " + self.shown(kind.target or UNKNOWN)
        if kind.kind == "struct":
            return self.types.first_name(kind.name)
        return b"number" if kind.kind == "scalar" else b"? " + kind.name

    def structs(self, kind: CType) -> Iterator[CType]:
        """Every struct that one has who has an object's bytes, also behind pointers in it."""
        seen: set[bytes] = set()
        waiting = [kind]
        while waiting:
            it = waiting.pop()
            if it.target is not None:
                waiting.append(it.target)
            elif it.kind == "struct" and (name := self.shown(it)) not in seen:
                seen.add(name)
                yield it
                waiting += (member.type for member in self.types.members(it).values())

    # --- node types ------------------------------------------------------------------------

    def _identifier(self, node: Node, names: Names) -> CType:
        name = text_of(node)
        if (found := self.declared(name, names)) is not None:
            return self.types.of(*found)
        return INT if name in self.types.enumerators else UNKNOWN

    def _string_literal(self, _node: Node, _names: Names) -> CType:
        return pointer_to(INT)

    _concatenated_string = _string_literal

    def _field_expression(self, node: Node, names: Names) -> CType:
        base, name = self.member(node, names)
        member = self.types.members(base).get(name) if base.kind == "struct" else None
        return member.type if member is not None else UNKNOWN

    def _subscript_expression(self, node: Node, names: Names) -> CType:
        return decayed(self.of(node.child_by_field_name("argument"), names)).target or UNKNOWN

    def _pointer_expression(self, node: Node, names: Names) -> CType:
        inner = self.of(node.child_by_field_name("argument"), names)
        if text_of(node).startswith(b"&"):
            return pointer_to(inner)
        return inner if inner.kind == "function" else decayed(inner).target or UNKNOWN

    def _cast_expression(self, node: Node, _names: Names) -> CType:
        return self.described(node.child_by_field_name("type"))

    def _compound_literal_expression(self, node: Node, _names: Names) -> CType:
        return self.described(node.child_by_field_name("type"))

    def _binary_expression(self, node: Node, names: Names) -> CType:
        parts = operands(node)
        if parts is None or parts[1] not in (b"+", b"-"):
            return INT
        left, right = (decayed(self.of(it, names)) for it in (parts[0], parts[2]))
        if left.kind == "pointer":
            return INT if right.kind == "pointer" else left
        return right if right.kind == "pointer" else left

    def _assignment_expression(self, node: Node, names: Names) -> CType:
        return self.of(node.child_by_field_name("left"), names)

    def _update_expression(self, node: Node, names: Names) -> CType:
        return self.of(node.child_by_field_name("argument"), names)

    def _conditional_expression(self, node: Node, names: Names) -> CType:
        arm = node.child_by_field_name("consequence")
        if arm is not None and is_null(arm):
            arm = node.child_by_field_name("alternative")
        return decayed(self.of(arm, names))

    def _comma_expression(self, node: Node, names: Names) -> CType:
        return decayed(self.of(node.child_by_field_name("right"), names))

    def _call_expression(self, node: Node, names: Names) -> CType:
        kind = self.of(node.child_by_field_name("function"), names)
        if kind.kind == "pointer" and kind.target is not None:
            kind = kind.target
        return kind.target or UNKNOWN if kind.kind == "function" else UNKNOWN


def decayed(kind: CType) -> CType:
    """What an array is as a value."""
    return pointer_to(kind.target or UNKNOWN) if kind.kind == "array" else kind


def is_null(node: Node) -> bool:
    """Whether an expression is 0, as a pointer or not."""
    node = strip_parentheses(node)
    while node.type == "cast_expression" and (value := node.child_by_field_name("value")):
        node = strip_parentheses(value)
    return node.type == "null" or text_of(node).rstrip(b"uUlL") in (b"0", b"0x0")


def called(node: Node) -> bytes:
    """The name of what a call calls; b"" for what a pointer leads to."""
    function = node.child_by_field_name("function")
    return text_of(function) if function is not None and function.type == "identifier" else b""


def name_of(declarator: Node) -> bytes:
    """The name that a declarator declares."""
    found = declared_name(declarator)
    return text_of(found) if found is not None else b""
