"""Names of blocks and registers that nothing found defines: `AFIO->MAPR` without the chip's header.

In C, what `->` stands behind, or what is assigned to, is declared somewhere. A name in capitals
that isn't comes from a header that the project's folder lacks, and is most likely hardware. What is
only read may be a constant, unless headers have registers of that name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from porter.program.c_text import CText
from porter.registers.shared_blocks import PLAIN
from porter.source.c_tree import (
    Node,
    SyntaxTree,
    captured,
    parse_expression,
    query,
    strip_parentheses,
    text_of,
)  # fmt: skip
from porter.source.declared import declared_name

_USES = query(
    "[(field_expression argument: (_) @used)"
    " (assignment_expression left: [(identifier) (call_expression) (subscript_expression)] @used)"
    " (update_expression argument: (identifier) @used)]"
)
_DECLARATIONS = query("[(declaration) (parameter_declaration) (type_definition)] @it")
# DMA1_Channel2 and DMA2_Stream0 are blocks of ST's.
_IN_CAPITALS = re.compile(
    rb"[A-Z][A-Z0-9_]*[A-Z0-9]x?|[A-Z][A-Z0-9_]*_[A-Z][a-z]+\d+|SCnSCB|CoreDebug|SysTick"
)
_FUNCTIONS = re.compile(rb"[A-Z][A-Z0-9_]*[A-Z0-9]")


class UndefinedNames:
    """Answers for one file."""

    def __init__(self, text: CText) -> None:
        self._text = text

        self._known: dict[bytes, bool] = {}

    def used(self, tree: SyntaxTree, parameters: tuple[bytes, ...]) -> Iterator[tuple[int, int]]:
        """[start, end) of each use in a tree; `parameters`: of the macro that it is the body of."""
        told: set[int] = set()
        for name in (*map(_base, captured(tree.root, _USES, "used")), *_plain(tree)):
            if name is None or name.id in told or text_of(name) in parameters:
                continue
            if self._is_undefined(text_of(name)):
                told.add(name.id)
                yield tree.start(name), tree.end(name)

    def _is_undefined(self, name: bytes) -> bool:
        if name not in self._known:
            self._known[name] = self._is_defined(name)
        return not self._known[name]

    def _is_defined(self, name: bytes) -> bool:
        types, macros = self._text.evaluator.types, self._text.evaluator.macros
        macro = macros.get(name)
        if macro is not None and macro.parameters is None:  # what it stands for may be undefined
            node = parse_expression(b" ".join(macros.expanded(macro.text)))
            other = _base(node) if node is not None else None
            inner = text_of(other) if other is not None else name
            return inner == name or inner in macros or self._is_defined(inner)
        return (
            macro is not None
            or name in types.enumerators
            or name in types.globals
            or name in self._declared
            or (self._text.is_cplusplus and name in types.of_classes)
        )

    @cached_property
    def _declared(self) -> frozenset[bytes]:
        """What the file declares, wherever."""
        found: set[bytes] = set()
        for tree in self._text.trees.readable():
            for node in captured(tree.root, _DECLARATIONS, "it"):
                for declarator in node.children_by_field_name("declarator"):
                    inner = declarator.child_by_field_name("declarator")
                    is_given = declarator.type == "init_declarator" and inner is not None
                    name = declared_name(inner if is_given and inner is not None else declarator)
                    found.add(text_of(name) if name is not None else b"")
        return frozenset(found)


def _plain(tree: SyntaxTree) -> Iterator[Node]:
    for match in PLAIN.finditer(tree.text):
        node = tree.root.descendant_for_byte_range(*match.span())
        if node is not None and node.type == "identifier" and text_of(node) == match.group():
            yield node


def _base(node: Node) -> Node | None:
    """The name in capitals that an expression begins with."""
    node = strip_parentheses(node)
    while node.type in ("field_expression", "subscript_expression"):
        inner = node.child_by_field_name("argument")
        if inner is None:
            return None
        node = strip_parentheses(inner)
    if node.type == "call_expression":
        function = node.child_by_field_name("function")
        if function is None or function.type != "identifier":
            return None
        return function if _FUNCTIONS.fullmatch(text_of(function)) else None
    is_block = node.type == "identifier" and _IN_CAPITALS.fullmatch(text_of(node))
    return node if is_block else None
