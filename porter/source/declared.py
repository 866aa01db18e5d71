"""What the top level of C text declares, name by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from porter.source.c_tree import Node, SyntaxTree, text_of
from porter.source.kept_addresses import Initialised, initialised

Enumerator = tuple[Node | None, bytes | None]
"""The value that an enumerator is given and the one before it."""


@dataclass
class Declared:
    """`globals`: variables and functions. The first declaration of a name is the one."""

    typedefs: dict[bytes, tuple[Node, Node]] = field(default_factory=dict)
    tags: dict[bytes, Node] = field(default_factory=dict)
    enumerators: dict[bytes, Enumerator] = field(default_factory=dict)
    globals: dict[bytes, tuple[Node, Node]] = field(default_factory=dict)
    initialised: dict[bytes, Initialised] = field(default_factory=dict)

    @classmethod
    def of(cls, tree: SyntaxTree, is_header: bool = True) -> Declared:
        """The declarations at the top level of a tree. Static variables of what is no header mean
        nothing to other files."""
        found = cls()
        for node in tree.root.children:
            found._add(node, is_header)
        return found

    def add(self, other: Declared) -> None:
        """What another declares besides."""
        for name, typedef in other.typedefs.items():
            self.typedefs.setdefault(name, typedef)
        for name, tag in other.tags.items():
            self.tags.setdefault(name, tag)
        for name, enumerator in other.enumerators.items():
            self.enumerators.setdefault(name, enumerator)
        for name, variable in other.globals.items():
            self.globals.setdefault(name, variable)
        for name, kept in other.initialised.items():
            self.initialised.setdefault(name, kept)

    def before(self, other: Declared) -> Declared:
        """Both together; of a name that both declare, what this one says."""
        return Declared(
            {**other.typedefs, **self.typedefs},
            {**other.tags, **self.tags},
            {**other.enumerators, **self.enumerators},
            {**other.globals, **self.globals},
            {**other.initialised, **self.initialised},
        )

    def is_empty(self) -> bool:
        """Whether nothing is declared."""
        return not (self.typedefs or self.tags or self.enumerators or self.initialised)

    def only(self, names: set[bytes]) -> Declared:
        """Of these names alone."""
        return Declared(
            {name: it for name, it in self.typedefs.items() if name in names},
            {name: it for name, it in self.tags.items() if name in names},
            {name: it for name, it in self.enumerators.items() if name in names},
            {name: it for name, it in self.globals.items() if name in names},
            {name: it for name, it in self.initialised.items() if name in names},
        )

    def _add(self, node: Node, is_header: bool) -> None:
        kind = node.child_by_field_name("type")
        if kind is not None:
            self._note_specifier(kind)
        if node.type == "type_definition" and kind is not None:
            for declarator in node.children_by_field_name("declarator"):
                if (name := declared_name(declarator)) is not None:
                    self.typedefs.setdefault(text_of(name), (kind, declarator))
        elif node.type in ("declaration", "function_definition") and kind is not None:
            for declarator in node.children_by_field_name("declarator"):
                if (name := declared_name(declarator)) is not None:
                    self.globals.setdefault(text_of(name), (kind, declarator))
                    found = initialised(node, declarator)
                    if found is not None and (is_header or not found.is_static):
                        self.initialised.setdefault(text_of(name), found)
        elif node.type in ("struct_specifier", "union_specifier", "enum_specifier"):
            self._note_specifier(node)

    def _note_specifier(self, node: Node) -> None:
        body = node.child_by_field_name("body")
        if body is None:
            return
        if node.type == "enum_specifier":
            self._note_enumerators(body)
        elif (name := node.child_by_field_name("name")) is not None:
            self.tags.setdefault(text_of(name), node)

    def _note_enumerators(self, body: Node) -> None:
        previous: bytes | None = None
        for item in body.named_children:
            name = item.child_by_field_name("name")
            if item.type != "enumerator" or name is None:
                continue
            value = item.child_by_field_name("value")
            self.enumerators.setdefault(text_of(name), (value, previous))
            previous = text_of(name)


def differing(declared: Sequence[Declared]) -> set[bytes]:
    """Names of types, enumerators and kept values that are declared in different ways."""
    seen: dict[tuple[str, bytes], tuple[bytes, ...]] = {}
    found: set[bytes] = set()

    def note(kind: str, name: bytes, *texts: bytes) -> None:
        if seen.setdefault((kind, name), texts) != texts:
            found.add(name)

    for one in declared:
        for name, (kind, declarator) in one.typedefs.items():
            note("type", name, text_of(kind), text_of(declarator))
        for name, node in one.tags.items():
            note("tag", name, text_of(node))
        for name, (value, before) in one.enumerators.items():
            note("enumerator", name, text_of(value) if value else b"", before or b"")
        for name, kept in one.initialised.items():
            note("value", name, text_of(kept.specifier), text_of(kept.value))
    return found


def declared_name(declarator: Node) -> Node | None:
    """The identifier inside a declarator."""
    node: Node | None = declarator
    while node is not None:
        if node.type in ("identifier", "field_identifier", "type_identifier", "primitive_type"):
            return node
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type == "parenthesized_declarator" and node.named_children:
            inner = node.named_children[0]
        node = inner
    return None
