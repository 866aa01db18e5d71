"""The syntax around a place in a C file: its tree, its function or macro, and what names mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from porter.program.c_text import CText
from porter.sites.local_names import BlockScopes, assignments, declarations, scope_of
from porter.sites.region import Region
from porter.source.c_tree import Node, SyntaxTree, ancestors, parse_macro_body, text_of
from porter.source.declared import declared_name
from porter.source.evaluate import Evaluator, Scope, no_scope
from porter.source.scoped_names import functions, path_around
from porter.source.values import Value


@dataclass(frozen=True, eq=False)
class Context:
    """`root` is a function definition, a whole macro body, or the file for what is outside."""

    tree: SyntaxTree
    root: Node
    scope: Scope
    name: str
    kind: str  # function, macro or file

    def node_at(self, start: int, end: int) -> Node | None:
        """The smallest node that covers file offsets [start, end)."""
        return self.tree.smallest(start, end)

    def start(self, node: Node) -> int:
        """File offset of a node's first byte."""
        return self.tree.start(node)

    def end(self, node: Node) -> int:
        """File offset just past a node."""
        return self.tree.end(node)


class Contexts:
    """Contexts of one file, each made once."""

    def __init__(self, text: CText) -> None:
        self.text = text
        self._functions: dict[int, Context] = {}  # by what names mean there
        self._scopes: dict[tuple[int, int], BlockScopes] = {}
        self._macros: dict[tuple[int, bool], Context | None] = {}

    def of(self, region: Region, start: int, end: int) -> Context | None:
        """The context of [start, end), or None if no parse of it is free of errors."""
        if region.name is not None:
            return self._macro(region)
        found = self.text.trees.function_at(start, end)
        if found is None:
            return self._file_level(start, end)
        tree, node = found
        if node.has_error and not self._clean_inside(tree, node, start, end):
            return None
        return self._function(tree, node, start, end)

    def unsure(self, region: Region, start: int, end: int) -> Context | None:
        """The context of [start, end) in a function that couldn't be read as a whole: good enough
        to see that something is there, not to change it."""
        found = self.text.trees.function_at(start, end) if region.name is None else None
        return None if found is None else self._function(*found, start, end)

    def _function(self, tree: SyntaxTree, node: Node, start: int, end: int) -> Context:
        key = (id(tree), node.start_byte)
        if key not in self._scopes:
            self._scopes[key] = BlockScopes(node, self.text, self._scope_around(tree, node))
        scope = self._scopes[key].at(tree.smallest(start, end) or node)
        if id(scope) not in self._functions:
            found = Context(tree, node, scope, function_name(node), "function")
            self._functions[id(scope)] = found
        return self._functions[id(scope)]

    def trees(self, region: Region) -> Iterator[SyntaxTree]:
        """Trees in which everything of a region stands that a parse could read."""
        if region.name is None:
            yield from self.text.trees.readable()
        elif (context := self._macro(region)) is not None:
            yield context.tree

    def at(self, tree: SyntaxTree, node: Node) -> Context:
        """The context of a node in a function of a tree."""
        function = next(a for a in ancestors(node) if a.type == "function_definition")
        scope = scope_of(function, self.text, self._scope_around(tree, function))
        return Context(tree, function, scope, function_name(function), "function")

    @cached_property
    def file_scope(self) -> Scope:
        """Variables of the file outside functions."""
        root = self.text.trees.whole.root
        return scope_of(root, self.text, no_scope, file_level=True)

    @cached_property
    def initialised(self) -> frozenset[bytes]:
        """Variables that are declared with a value, wherever."""
        names = (
            declared_name(declarator)
            for _, declarator, value in declarations(self.text.trees.whole.root)
            if value is not None
        )
        return frozenset(text_of(name) for name in names if name is not None)

    @cached_property
    def assigned(self) -> frozenset[bytes]:
        """Variables that statements give a value."""
        return frozenset(assignments(self.text.trees.whole.root))

    def functions(self) -> Iterator[tuple[SyntaxTree, Node]]:
        """Function definitions of the file, of every #if arm."""
        tree = self.text.trees.whole
        for node in functions(tree.root) if tree.is_cplusplus else tree.root.children:
            if node.type == "function_definition":
                yield tree, node

    def _scope_around(self, tree: SyntaxTree, node: Node) -> Scope:
        """What names mean around a function or a declaration, before the file's own."""
        path = path_around(node) if tree.is_cplusplus else ()
        if not path:
            return self.file_scope
        evaluator = self.text.evaluator

        def look_up(name: bytes) -> Value | None:
            found = evaluator.scopes.within(name, path)
            return found if found is not None else self.file_scope(name)

        return look_up

    def as_statement(self, region: Region) -> Context | None:
        """The context of the body of a macro that nobody asks for a value."""
        return self._macro(region, is_statement=True)

    def _macro(self, region: Region, is_statement: bool = False) -> Context | None:
        key = region.start, is_statement
        if key not in self._macros:
            tree = parse_macro_body(self.text.file.data, region.start, region.end, is_statement)
            name = (region.name or b"").decode("latin-1")
            self._macros[key] = (
                Context(tree, tree.root, no_scope, name, "macro") if tree is not None else None
            )
        return self._macros[key]

    def _file_level(self, start: int, end: int) -> Context | None:
        found = self.text.trees.clean_at(start, end)
        if found is None:
            return None
        scope = self._scope_around(*found)
        return Context(found[0], found[0].root, scope, "", "file")

    @staticmethod
    def _clean_inside(tree: SyntaxTree, function: Node, start: int, end: int) -> bool:
        """Whether the statement at [start, end) is whole although its function isn't."""
        node = tree.smallest(start, end)
        while node is not None and node.id != function.id:
            if node.type == "ERROR" or (node.type.endswith("_statement") and node.has_error):
                return False
            node = node.parent
        return node is not None


def body_of(context: Context) -> Node | None:
    """The expression or the one statement that a macro body is."""
    top = context.root.named_children[0] if context.root.named_children else None
    if top is None:
        return None
    if top.type == "function_definition":
        block = top.child_by_field_name("body")
        statements = [
            child
            for child in (block.named_children if block is not None else [])
            if child.type != "expression_statement" or child.named_children
        ]
        if len(statements) != 1:
            return None
        only = statements[0]
        if only.type == "expression_statement":
            return only.named_children[0]
        return only
    declarator = top.child_by_field_name("declarator")
    return declarator.child_by_field_name("value") if declarator is not None else None


def is_made_by_macro(function: Node, evaluator: Evaluator) -> bool:
    """`ISR(TIM2) {`, which parses as a TIM2 of type ISR: what the function is called is unknown."""
    declared = function.child_by_field_name("type")
    written = {function_name(function).encode("latin-1")}
    written.add(text_of(declared) if declared is not None else b"")
    found = [evaluator.macros.get(word) for word in written]
    return any(macro is not None and macro.parameters is not None for macro in found)


def is_called_by_name(function: Node, evaluator: Evaluator) -> bool:
    """Whether a call of a function has the name that it is defined by: constructors, destructors,
    operators and members that override others have other ways."""
    if is_made_by_macro(function, evaluator) or path_around(function):
        return False
    return function_name(function).isidentifier()


def function_name(definition: Node) -> str:
    """The name that a function definition defines."""
    declarator = definition.child_by_field_name("declarator")
    name = declared_name(declarator) if declarator is not None else None
    return text_of(name).decode("latin-1") if name is not None else ""
