"""The functions of a project by name, with what their names stand for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from porter.interrupt_split.constants import constants_only
from porter.interrupt_split.types import scalar_name
from porter.program.c_text import CText
from porter.program.knowledge import Knowledge
from porter.sites.context import Contexts, function_name
from porter.sites.local_names import declarations
from porter.source.c_tree import Node, SyntaxTree, parts_of, text_of, walk
from porter.source.declarations import has_word, is_static
from porter.source.declared import declared_name, parameter_names
from porter.source.evaluate import Evaluator, Scope
from porter.source.source_file import SourceFile


@dataclass(frozen=True, eq=False)
class Function:
    """A definition."""

    text: CText
    contexts: Contexts
    tree: SyntaxTree
    node: Node

    @property
    def name(self) -> str:
        """As written."""
        return function_name(self.node)

    @property
    def identity(self) -> int:
        """Tells the locals of one function from those of another."""
        return self.node.id

    @property
    def evaluator(self) -> Evaluator:
        """Of the file."""
        return self.text.evaluator

    @cached_property
    def scope(self) -> Scope:
        """What its names stand for."""
        found = self.contexts.at(self.tree, self.body or self.node).scope
        return constants_only(found, self.text, self.node)

    @cached_property
    def body(self) -> Node | None:
        """Its block."""
        return self.node.child_by_field_name("body")

    @cached_property
    def is_static(self) -> bool:
        """Whether only its own file can call it."""
        return is_static(self.node)

    @cached_property
    def parameter_names(self) -> list[bytes]:
        """Of its parameters; b"" for one without a name."""
        return parameter_names(self.node)

    @cached_property
    def scalars(self) -> dict[str, str]:
        """Its locals and parameters that live in processor registers."""
        return scalars_of(self.node, self.evaluator)

    @cached_property
    def returned_value(self) -> Node | None:
        """The value of a function that is one `return`; None for any other function."""
        statements = parts_of(self.body)
        if len(statements) != 1 or statements[0].type != "return_statement":
            return None
        values = parts_of(statements[0])
        return values[0] if values else None


def scalars_of(root: Node, evaluator: Evaluator) -> dict[str, str]:
    """Variables declared below a node that live in processor registers: name to type, "" if it
    can't be named without the project's headers. Static ones and those whose address is taken
    are memory."""
    found: dict[str, str] = {}
    hidden: set[bytes] = set()
    for item in walk(root):
        if item.type == "pointer_expression" and text_of(item).startswith(b"&"):
            target = item.child_by_field_name("argument")
            hidden.add(text_of(target) if target is not None else b"")
        elif item.type == "declaration" and (is_static(item) or has_word(item, b"extern")):
            names = [declared_name(d) for d in item.children_by_field_name("declarator")]
            hidden |= {text_of(name) for name in names if name is not None}
    for specifier, declarator, _ in declarations(root):
        name = declared_name(declarator)
        if name is None or text_of(name) in hidden:
            continue
        kind = evaluator.types.of(specifier, declarator)
        if kind.kind in ("scalar", "unknown"):
            found[text_of(name).decode("latin-1")] = scalar_name(specifier, kind)
    return found


class Functions:
    """Looks definitions up; those of another name by macro are not followed."""

    def __init__(self, files: Iterable[SourceFile], knowledge: Knowledge) -> None:
        self._files = [it for it in files if not it.is_asm and not knowledge.is_cplusplus(it)]
        self._knowledge = knowledge
        self._followed: set[str] | None = None

    def following(self, names: set[str]) -> Functions:
        """The same functions, of which only these are found by name."""
        found = Functions(self._files, self._knowledge)
        found.by_name = self.by_name
        found._followed = names
        return found

    @cached_property
    def by_name(self) -> dict[str, list[Function]]:
        """Every definition; a name may have several, in #if arms or in files of their own."""
        found: dict[str, list[Function]] = {}
        for function in self.all():
            found.setdefault(function.name, []).append(function)
        return found

    def all(self) -> Iterator[Function]:
        """Definitions that the compiler doesn't skip."""
        for file in self._files:
            yield from self.all_of(file)

    def all_of(self, file: SourceFile) -> Iterator[Function]:
        """Those of one file."""
        text = self._knowledge.text(file)
        contexts = Contexts(text)
        for tree, node in contexts.functions():
            first, last = file.line(tree.start(node)), file.line(tree.end(node))
            if self._knowledge.is_compiled(file.path, first, last):
                yield Function(text, contexts, tree, node)

    def is_included(self, file: SourceFile) -> bool:
        """Whether a source includes a file by its name."""
        include = re.compile(rb"#[ \t]*include[^\n]*" + re.escape(file.path.name.encode()))
        return any(include.search(other.data) for other in self._files)

    def get(self, name: str, near: SourceFile | None = None) -> Function | None:
        """The one definition of a name, that in the file `near` before others; else None."""
        if self._followed is not None and name not in self._followed:
            return None
        found = self.by_name.get(name, [])
        if near is not None and len(found) > 1:
            found = [function for function in found if function.text.file.path == near.path]
        return found[0] if len(found) == 1 else None
