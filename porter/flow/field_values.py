"""Which constants the fields of structs hold, wherever in a project they are written.

A driver's settings come in structs that one place fills with constants: `init.Mode = 3;`. What may
be in a field is then one of these constants, or 0 before anything was written. A field whose
address is taken, that is written with anything else, or that a library may write, can hold
anything. The order of the writes is not looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from porter.flow.outside_memory import OutsideMemory
from porter.program.c_text import CText
from porter.sites.context import Contexts, function_name
from porter.sites.local_names import declarations, scope_of
from porter.source.c_tree import (
    Node,
    SyntaxTree,
    arguments_of,
    parts_of,
    strip_parentheses,
    text_of,
    walk,
)
from porter.source.c_types import CType
from porter.source.evaluate import Evaluator, Scope
from porter.source.values import Place, Pointer

_Field = tuple[bytes, bytes]
_MAX_VALUES = 16
_NO_OWNER = b""


@dataclass(frozen=True)
class _Code:
    """A function, or a file outside its functions, and what names mean there."""

    root: Node
    scope: Scope
    evaluator: Evaluator
    is_cplusplus: bool


_READ_ELSEWHERE = frozenset(
    {"init_declarator", "initializer_list", "initializer_pair", "for_range_loop"}
)


class FieldValues:
    """Answers for the compiled C files of one project."""

    def __init__(
        self, texts: Iterable[CText], takes_part: Callable[[CText, SyntaxTree, Node], bool]
    ) -> None:
        """`takes_part`: whether a function may run at all."""
        self._values: dict[_Field, set[int] | None] = {}
        self._defined: set[bytes] = set()
        self._is_open = False  # whether objects are made of lists for which no type is written
        texts = list(texts)
        unused: set[bytes] = set()
        codes = [code for text in texts for code in _codes(text, takes_part, unused)]
        for code in codes:
            declarator = code.root.child_by_field_name("declarator")
            if code.root.type == "function_definition" and declarator is not None:
                name = declarator.child_by_field_name("declarator")
                self._defined.add(text_of(name) if name is not None else b"")
        self._outside = OutsideMemory(texts, frozenset(self._defined), unused - self._defined)
        for code in codes:
            self._read(code)

    def of(self, node: Node, evaluator: Evaluator, scope: Scope) -> frozenset[int] | None:
        """What is written to a field, which holds 0 before; None if it may be anything."""
        owner, member = _field(node, evaluator, scope)
        if self._is_open or not owner or not member or _is_at_number(node, evaluator, scope):
            return None
        if self._outside.holds(owner, evaluator.types, evaluator.macros):
            return None
        known = [self._values.get((name, member), set()) for name in (owner, _NO_OWNER)]
        values = [found for found in known if found is not None]
        return frozenset(set().union(*values)) if len(values) == len(known) else None

    def _read(self, code: _Code) -> None:
        for node in _walk(code.root):
            if node.type == "assignment_expression":
                self._assignment(node, code)
            elif node.type == "update_expression" or (
                node.type == "pointer_expression" and text_of(node).startswith(b"&")
            ):
                self._anything(node.child_by_field_name("argument"), code)
            elif node.type == "call_expression":
                self._call(node, code)
            elif node.type == "cast_expression":
                self._cast(node, code)
            elif node.type == "initializer_list" and code.is_cplusplus:
                self._list(node, code)
        is_file = code.root.type != "function_definition"
        for kind, declarator, value in declarations(code.root, file_level=is_file):
            if value is not None and value.type == "initializer_list":
                self._initialiser(value, code.evaluator.types.of(kind, declarator), code)

    def _list(self, node: Node, code: _Code) -> None:
        """`T{...}`, `f({...})`, `: member{...}`: in C++ a list may make an object anywhere."""
        parent = node.parent
        numbers = [code.evaluator.number(it, code.scope) for it in node.named_children]
        if parent is None or parent.type in _READ_ELSEWHERE or not any(it != 0 for it in numbers):
            return
        kind = parent.child_by_field_name("type")
        if parent.type == "compound_literal_expression" and kind is not None:
            self._initialiser(node, code.evaluator.types.of(kind, None), code)
        elif parent.type != "field_initializer" or len(numbers) > 1:
            self._is_open = True

    def _assignment(self, node: Node, code: _Code) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        sign = node.child_by_field_name("operator")
        number = code.evaluator.number(right, code.scope) if right is not None else None
        if left is None or sign is None or text_of(sign) != b"=" or number is None:
            self._anything(left, code)
        elif (left := strip_parentheses(left)).type == "field_expression":
            self._put(_field(left, code.evaluator, code.scope), number)

    def _anything(self, node: Node | None, code: _Code) -> None:
        """A scalar field that gets an unknown value. A struct is copied field by field."""
        node = strip_parentheses(node) if node is not None else None
        if node is None or node.type != "field_expression":
            return
        value = code.evaluator.value(node, code.scope)
        if isinstance(value, Place) and value.type.kind == "struct":
            return
        self._put(_field(node, code.evaluator, code.scope), None)

    def _call(self, node: Node, code: _Code) -> None:
        """A library function may write to what it is pointed at; memset(.., 0, ..) writes 0."""
        function = node.child_by_field_name("function")
        name = text_of(function) if function is not None else b""
        if name in self._defined or name in code.evaluator.macros:
            return
        given = arguments_of(node)
        value = given[1] if name == b"memset" and len(given) == 3 else None
        if value is not None and code.evaluator.number(value, code.scope) == 0:
            return
        for argument in given:
            argument = strip_parentheses(argument)
            if argument.type == "pointer_expression" and text_of(argument).startswith(b"&"):
                inner = argument.child_by_field_name("argument")
                target = code.evaluator.value(inner, code.scope) if inner is not None else None
            else:
                target = code.evaluator.value(argument, code.scope)
            if isinstance(target, Place | Pointer) and target.type.kind == "struct":
                self._forget(target.type, code)

    def _cast(self, node: Node, code: _Code) -> None:
        """A pointer to a struct that becomes another pointer or a number: for DMA, as bytes."""
        kind, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        target = code.evaluator.value(value, code.scope) if value is not None else None
        words = text_of(kind).split() if kind is not None else []
        if not isinstance(target, Pointer) or target.type.kind != "struct" or words == [b"void"]:
            return
        if target.type.name.split()[-1] not in words:
            self._forget(target.type, code)

    def _initialiser(self, node: Node, kind: CType, code: _Code) -> None:
        """`{0}`, `{.field = constant}`; values by position are taken as unknown."""
        items = parts_of(node)
        target = kind.target if kind.kind == "array" else None
        if target is not None:
            for item in items:
                if item.type == "initializer_list":
                    self._initialiser(item, target, code)
            return
        for item in items:
            designator = item.child_by_field_name("designator")
            value = item.child_by_field_name("value")
            if item.type == "initializer_pair" and designator is not None and value is not None:
                name = text_of(designator).lstrip(b".")
                member = code.evaluator.types.members(kind).get(name)
                if value.type == "initializer_list" and member is not None:
                    self._initialiser(value, member.type, code)
                else:
                    self._put((kind.name, name), code.evaluator.number(value, code.scope))
            elif len(items) > 1 or code.evaluator.number(item, code.scope) != 0:
                self._forget(kind, code)

    def _forget(self, kind: CType, code: _Code) -> None:
        for name, member in code.evaluator.types.members(kind).items():
            self._put((kind.name, name), None)
            if member.type.kind == "struct" and member.type.name != kind.name:
                self._forget(member.type, code)

    def _put(self, field: _Field, value: int | None) -> None:
        known = self._values.setdefault(field, set())
        if value is None or known is None or len(known) >= _MAX_VALUES:
            self._values[field] = None
        else:
            known.add(value)


def _is_at_number(node: Node, evaluator: Evaluator, scope: Scope) -> bool:
    """Whether the address of a field is known: no variable's is."""
    value = evaluator.value(node, scope)
    return isinstance(value, Place) and value.address is not None


def _field(node: Node, evaluator: Evaluator, scope: Scope) -> _Field:
    value = evaluator.value(node, scope)
    if isinstance(value, Place) and value.member:
        return value.owner, value.member
    name = node.child_by_field_name("field")
    return _NO_OWNER, text_of(name) if name is not None else b""


def _codes(
    text: CText, takes_part: Callable[[CText, SyntaxTree, Node], bool], unused: set[bytes]
) -> Iterator[_Code]:
    """`unused` gets the names of functions that don't take part."""
    contexts = Contexts(text)
    for tree, function in contexts.functions():
        if takes_part(text, tree, function):
            scope = scope_of(function, text, contexts.file_scope)
            yield _Code(function, scope, text.evaluator, tree.is_cplusplus)
        else:
            unused.add(function_name(function).encode("latin-1"))
    tree = text.trees.whole
    yield _Code(tree.root, contexts.file_scope, text.evaluator, tree.is_cplusplus)


def _walk(root: Node) -> Iterator[Node]:
    """A function's nodes; of a file only what is outside functions."""
    if root.type == "function_definition":
        yield from walk(root)
        return
    for child in root.children:
        if child.type != "function_definition":
            yield from walk(child)
