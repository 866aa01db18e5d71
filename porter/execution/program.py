"""The preprocessed text of a program: its functions, variables and types, and where they stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from porter.execution.attributes import without_attributes
from porter.program.preprocess import MARKER
from porter.source.c_lexer import lex
from porter.source.c_tree import Node, SyntaxTree, text_of
from porter.source.c_types import TypeTable
from porter.source.declarations import has_word, is_static
from porter.source.declared import declared_name
from porter.source.evaluate import Evaluator
from porter.source.macros import MacroTable, parse_define

_NUMBER = re.compile(  # `#define HSE_VALUE ((uint32_t)8000000U)`
    rb"#define (\w+) \(*\s*(?:\(\s*[A-Za-z_][\w ]*\)\s*)?"
    rb"(0[xX][0-9A-Fa-f]+|[1-9]\d*|0)[uUlL]*[\s)]*"
)


@dataclass(frozen=True)
class Where:
    """A line of a file of the project."""

    file: Path
    line: int


@dataclass(frozen=True)
class FunctionText:
    """A function definition in a translation unit."""

    name: str
    unit: int
    node: Node
    weak: bool
    static: bool

    @property
    def body(self) -> Node | None:
        """Its statements."""
        return self.node.child_by_field_name("body")


@dataclass(frozen=True)
class VariableText:
    """A variable at file level, or a static one of a function."""

    unit: int
    kind: Node
    declarator: Node
    value: Node | None
    static: bool
    volatile: bool
    constant: bool
    extern: bool


@dataclass
class Unit:
    """One translation unit."""

    number: int
    path: Path
    tree: SyntaxTree
    types: TypeTable
    evaluator: Evaluator
    starts: list[int]
    places: list[tuple[Path, int]]
    weak: list[int]
    functions: dict[str, FunctionText] = field(default_factory=dict)
    variables: dict[str, VariableText] = field(default_factory=dict)

    def where(self, node: Node) -> Where:
        """The line of a node in its own file."""
        offset = node.start_byte
        index = bisect_right(self.starts, offset) - 1
        if index < 0:
            return Where(self.path, 1)
        path, line = self.places[index]
        return Where(path, line + self.tree.text.count(b"\n", self.starts[index], offset))


class Program:
    """All translation units, and what their names mean to each other."""

    def __init__(self, texts: Mapping[Path, bytes]) -> None:
        self._defines: dict[bytes, bytes] = {}
        self.units = [
            _unit(number, path, text, self._defines)
            for number, (path, text) in enumerate(texts.items())
        ]
        self.functions: dict[str, FunctionText] = {}
        self.variables: dict[str, VariableText] = {}
        for unit in self.units:
            for name, function in unit.functions.items():
                known = self.functions.get(name)
                if not function.static and (known is None or known.weak):
                    self.functions[name] = function
            for name, variable in unit.variables.items():
                known_one = self.variables.get(name)
                if not variable.static and (known_one is None or _better(variable, known_one)):
                    self.variables[name] = variable

    def define(self, name: str) -> int | None:
        """The number that a macro is defined as, in the last unit that defines it."""
        match = _NUMBER.fullmatch(self._defines.get(name.encode("latin-1"), b""))
        return int(match.group(2), 0) if match is not None else None

    @cached_property
    def macros(self) -> Evaluator:
        """What the macros of all units stand for, by the last definition of each."""
        table = MacroTable()
        for line in self._defines.values():
            for directive in lex(line).directives:
                if (macro := parse_define(directive)) is not None:
                    table.redefine(macro)
        return Evaluator(table, TypeTable())

    def function(self, unit: int, name: str) -> FunctionText | None:
        """The function that a name means in a unit; a strong one before a weak one."""
        own = self.units[unit].functions.get(name)
        if own is not None and own.static:
            return own
        return self.functions.get(name)

    def variable(self, unit: int, name: str) -> VariableText | None:
        """The variable that a name means in a unit."""
        own = self.units[unit].variables.get(name)
        if own is not None and own.static:
            return own
        return self.variables.get(name)


def _better(new: VariableText, old: VariableText) -> bool:
    """A definition says more than a declaration, an initialiser more than none."""
    return (new.value is not None, not new.extern) > (old.value is not None, not old.extern)


def _unit(number: int, path: Path, text: bytes, defines: dict[bytes, bytes]) -> Unit:
    """`defines`: gets the lines of all #defines, by name."""
    starts: list[int] = []
    places: list[tuple[Path, int]] = []
    known: dict[bytes, Path] = {}
    lines: list[bytes] = []
    offset = 0
    for line in text.split(b"\n"):
        if not line.startswith(b"#"):
            lines.append(line)
            offset += len(line) + 1
            continue
        lines.append(b"")  # a directive, whose line counts
        offset += 1
        marker = MARKER.match(line)
        if marker is not None:
            name = marker.group(2)
            if name not in known:
                plain = re.sub(rb"\\(.)", rb"\1", name).decode("utf-8", "surrogateescape")
                known[name] = Path(path.parent, plain)
            starts.append(offset)
            places.append((known[name], int(marker.group(1))))
        elif line.startswith(b"#define "):
            defines[line[8:].split(b" ", 1)[0]] = line.rstrip()
    clean, weak = without_attributes(b"\n".join(lines))
    tree = SyntaxTree(clean, 0)
    types = TypeTable()
    types.add_tree(tree)
    evaluator = Evaluator(MacroTable(), types)
    unit = Unit(number, path, tree, types, evaluator, starts, places, weak)
    for node in _top_level(tree.root):
        if node.type == "function_definition":
            _note_function(unit, node)
        elif node.type == "declaration":
            for name_text, variable in variables_of(unit, node):
                known_one = unit.variables.get(name_text)
                if known_one is None or _better(variable, known_one):
                    unit.variables[name_text] = variable
    return unit


def _top_level(root: Node) -> Iterator[Node]:
    """Definitions, also those inside what the parser stumbled over."""
    pending = list(reversed(root.children))
    while pending:
        node = pending.pop()
        if node.type in ("ERROR", "linkage_specification", "declaration_list"):
            pending += reversed(node.children)
        else:
            yield node


def _note_function(unit: Unit, node: Node) -> None:
    declarator = node.child_by_field_name("declarator")
    name = declared_name(declarator) if declarator is not None else None
    if name is None:
        return
    before = bisect_right(unit.weak, _end_before(node))
    body = node.child_by_field_name("body")
    upto = bisect_right(unit.weak, body.start_byte if body is not None else node.end_byte)
    text = text_of(name).decode("latin-1")
    function = FunctionText(text, unit.number, node, upto > before, is_static(node))
    known = unit.functions.get(text)
    if known is None or known.weak:
        unit.functions[text] = function


def _end_before(node: Node) -> int:
    previous = node.prev_sibling
    return previous.end_byte if previous is not None else 0


def variables_of(unit: Unit, node: Node) -> Iterator[tuple[str, VariableText]]:
    """The variables that a declaration defines or names."""
    kind = node.child_by_field_name("type")
    if kind is None:
        return
    for declarator in node.children_by_field_name("declarator"):
        value = None
        inner: Node | None = declarator
        if declarator.type == "init_declarator":
            inner = declarator.child_by_field_name("declarator")
            value = declarator.child_by_field_name("value")
        name = declared_name(inner) if inner is not None else None
        if inner is None or name is None or _is_function(inner):
            continue
        pointer = inner.type == "pointer_declarator"
        yield (
            text_of(name).decode("latin-1"),
            VariableText(
                unit.number, kind, inner, value, is_static(node),
                has_word(inner if pointer else node, b"volatile"),
                has_word(inner if pointer else node, b"const"),
                has_word(node, b"extern") and value is None,
            ),
        )  # fmt: skip


def _is_function(declarator: Node) -> bool:
    """`*f(void)`, but not the pointer `(*f)(void)`."""
    inner: Node | None = declarator
    while inner is not None and inner.type == "pointer_declarator":
        inner = inner.child_by_field_name("declarator")
    if inner is None or inner.type != "function_declarator":
        return False
    named = inner.child_by_field_name("declarator")
    return named is not None and named.type == "identifier"
