"""Variables of one file and every place where their names occur."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from porter.flow.webs import WHOLE, split
from porter.program.c_text import CText
from porter.source.c_lexer import LexedSource
from porter.source.c_tree import Node, SyntaxTree, enclosing_function, text_of, walk
from porter.source.declarations import (
    is_declarator,
    is_static,
    outer_declaration,
    outer_declarator,
)
from porter.source.declared import declared_name

# What memory that others know has, or a call says: another time it may be something else.
_FROM_ELSEWHERE = frozenset(
    {"field_expression", "subscript_expression", "pointer_expression", "call_expression"}
)
_PLAIN = frozenset({"scalar", "pointer", "array"})


@dataclass(frozen=True)
class Variable:
    """A local (`function` is its definition's start byte) or a static of the file (None).

    `web` tells the values apart that one local holds one after the other; WHOLE: all of them.
    """

    name: bytes
    function: int | None
    web: int = WHOLE


class Variables:
    """Answers on the tree of all #if arms at once."""

    def __init__(self, text: CText) -> None:
        self._lexed: LexedSource = text.lexed
        self.tree: SyntaxTree = text.trees.whole
        self._types = text.evaluator.types
        self._written = text.written
        self._webs: dict[Variable, dict[int, int]] = {}

    @cached_property
    def _occurrences(self) -> dict[bytes, list[Node]]:
        found: dict[bytes, list[Node]] = {}
        for node in walk(self.tree.root):
            if node.type == "identifier":
                found.setdefault(text_of(node), []).append(node)
        return found

    @cached_property
    def _in_macros(self) -> frozenset[bytes]:
        """Names that a macro of this file mentions: who uses them can't be told."""
        return frozenset(
            token.text
            for directive in self._lexed.directives
            if directive.name == b"define"
            for token in directive.tokens[1:]
        )

    @cached_property
    def _statics(self) -> frozenset[bytes]:
        names: set[bytes] = set()
        for node in self.tree.root.children:
            if node.type != "declaration" or not is_static(node):
                continue
            for declarator in node.children_by_field_name("declarator"):
                name = declared_name(_plain(declarator))
                if name is not None and "function" not in declarator.type:
                    names.add(text_of(name))
        return frozenset(names)

    def resolve(self, identifier: Node) -> Variable | None:
        """The variable a name stands for; None for globals, functions, macros, parameters."""
        name = text_of(identifier)
        function = enclosing_function(identifier)
        if function is not None and self._declarations(name, function):
            return Variable(name, function.start_byte)
        if function is not None and name in self._parameters(function):
            return None
        if name in self._statics and name not in self._in_macros:
            return Variable(name, None)
        return None

    def resolve_web(self, identifier: Node) -> Variable | None:
        """Like resolve, but only as much of a local as shares one value with this use."""
        variable = self.resolve(identifier)
        if variable is None or variable.function is None:
            return variable
        if variable not in self._webs:
            function = enclosing_function(identifier)
            uses = list(self.uses(variable))
            declarators = list(self.declarators(variable))
            self._webs[variable] = split(uses, declarators, function) if function else {}
        place = identifier if not is_declarator(identifier) else outer_declarator(identifier)
        return replace(variable, web=self._webs[variable].get(place.id, WHOLE))

    def named(self, name: bytes, function: Node) -> Iterator[Node]:
        """Occurrences of a name in a function."""
        for node in self._occurrences.get(name, ()):
            if function.start_byte <= node.start_byte < function.end_byte:
                yield node

    def uses(self, variable: Variable) -> Iterator[Node]:
        """Occurrences of a variable, or of its web, other than its own declarators."""
        resolve = self.resolve if variable.web == WHOLE else self.resolve_web
        for node in self._occurrences.get(variable.name, ()):
            if not is_declarator(node) and resolve(node) == variable:
                yield node

    def declarators(self, variable: Variable) -> Iterator[Node]:
        """The declarators (with initialiser) that introduce a variable."""
        for node in self._occurrences.get(variable.name, ()):
            if self.resolve(node) == variable and is_declarator(node):
                yield outer_declarator(node)

    def given(self, use: Node) -> Node | None:
        """The one value that a local may hold at a use, as it is given to it; None where that isn't
        known, or what it is computed from may be another by then."""
        variable = self.resolve_web(use)
        function = enclosing_function(use)
        if variable is None or variable.function is None or function is None:
            return None
        uses = list(self.uses(variable))
        values = [
            value
            for it in self.declarators(replace(variable, web=WHOLE))
            if variable.web in (WHOLE, it.start_byte)
            and (value := it.child_by_field_name("value")) is not None
        ]
        values += [value for it in uses if (value := _assigned(it)) is not None]
        if len(values) != 1 or any(_may_change(it) for it in uses):
            return None
        read = list(walk(values[0]))
        if any(it.type in _FROM_ELSEWHERE for it in read):
            return None
        written = self._written.inside(function)
        own = self._parameters(function)
        is_kept = all(
            self._is_given_once(it)
            or (name not in written and (name in own or name not in self._types.globals))
            for it in read
            if it.type == "identifier" and (name := text_of(it))
        )
        return values[0] if is_kept else None

    def _is_given_once(self, use: Node) -> bool:
        """Whether a local has one value all the time that it has any."""
        variable = self.resolve(use)
        if variable is None or variable.function is None:
            return False
        uses = list(self.uses(variable))
        begins = [it.child_by_field_name("value") for it in self.declarators(variable)]
        given = [it for it in (*begins, *map(_assigned, uses)) if it is not None]
        return len(given) == 1 and not any(map(_may_change, uses))

    def used_in(self, within: Callable[[Node], bool]) -> set[Variable]:
        """Variables of which a name occurs where `within` says yes."""
        return {
            variable
            for nodes in self._occurrences.values()
            for node in nodes
            if within(node) and (variable := self.resolve(node)) is not None
        }

    def _declarations(self, name: bytes, function: Node) -> bool:
        return any(
            node.start_byte >= function.start_byte
            and node.end_byte <= function.end_byte
            and is_declarator(node)
            and self._is_plain(outer_declaration(node))
            for node in self._occurrences.get(name, ())
        )

    def _is_plain(self, declaration: Node) -> bool:
        """Whether declaring a variable does nothing else: an object of a class may have more to do
        at its beginning and its end."""
        if declaration.type != "declaration" or not self.tree.is_cplusplus:
            return declaration.type == "declaration"
        kind = declaration.child_by_field_name("type")
        declarator = declaration.child_by_field_name("declarator")
        if kind is None or kind.type == "placeholder_type_specifier":
            return True
        return self._types.of(kind, declarator and _plain(declarator)).kind in _PLAIN

    @staticmethod
    def _parameters(function: Node) -> frozenset[bytes]:
        declarator = function.child_by_field_name("declarator")
        return frozenset(
            text_of(node)
            for node in (walk(declarator) if declarator is not None else ())
            if node.type == "identifier"
        )


def _assigned(use: Node) -> Node | None:
    """What an assignment gives to a variable, if the use is its left side."""
    parent = use.parent
    if parent is None or parent.type != "assignment_expression":
        return None
    return parent.child_by_field_name("right") if _is_left(use, parent) else None


def _is_left(use: Node, assignment: Node) -> bool:
    return assignment.child_by_field_name("left") == use


def _may_change(use: Node) -> bool:
    """Whether a use computes a new value from the old one, or hands on where the variable is."""
    parent = use.parent
    if parent is None or parent.type == "update_expression":
        return True
    if parent.type == "assignment_expression" and _is_left(use, parent):
        sign = parent.child_by_field_name("operator")
        return sign is None or text_of(sign) != b"="
    return parent.type == "pointer_expression" and text_of(parent).startswith(b"&")


def _plain(declarator: Node) -> Node:
    inner = declarator.child_by_field_name("declarator")
    return inner if declarator.type == "init_declarator" and inner is not None else declarator
