"""What the top level of C text declares, name by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from porter.source.c_tree import Node, SyntaxTree, ancestors, text_of
from porter.source.declarations import WITHOUT_FIELD, parameter_list
from porter.source.kept_addresses import Initialised, initialised, is_constant
from porter.source.scoped_names import CLASSES, Path, Scoped, declared

SPECIFIERS = CLASSES | {"enum_specifier"}
_NAMES = frozenset(
    {"identifier", "field_identifier", "type_identifier", "primitive_type", "destructor_name",
     "operator_name", "operator_cast"}
)  # fmt: skip
_WORD = re.compile(rb"[A-Za-z_]\w*")

Enumerator = tuple[Node | None, bytes | None]
"""The value that an enumerator is given and the one before it."""


Made = tuple[Path, Node]
"""What is declared, with its own name last, and an argument of a template that makes it."""


@dataclass
class Declared:
    """`globals`: variables and functions. The first declaration of a name is the one. `overloads`:
    all declarators of functions, and of pointers to some, in whatever scope. `made`: classes, types
    and objects that templates with arguments make."""

    typedefs: dict[bytes, tuple[Node, Node | None]] = field(default_factory=dict)
    tags: dict[bytes, Node] = field(default_factory=dict)
    enumerators: dict[bytes, Enumerator] = field(default_factory=dict)
    globals: dict[bytes, tuple[Node, Node]] = field(default_factory=dict)
    initialised: dict[bytes, Initialised] = field(default_factory=dict)
    scoped: dict[bytes, list[Scoped]] = field(default_factory=dict)
    member_functions: dict[bytes, list[tuple[Node | None, Node]]] = field(default_factory=dict)
    constant_functions: set[bytes] = field(default_factory=set)
    overloads: dict[bytes, list[Node]] = field(default_factory=dict)
    made: list[Made] = field(default_factory=list)

    @classmethod
    def of(cls, tree: SyntaxTree, is_header: bool = True) -> Declared:
        """The declarations at the top level of a tree. Static variables of what is no header mean
        nothing to other files."""
        found = cls()
        if tree.is_cplusplus:
            for path, node in declared(tree.root):
                found._add_cplusplus(node, path, is_header)
                found.made += _made(node, path)
            return found
        for node in tree.root.children:
            found._add(node, is_header)
        return found

    def words(self, used: Iterable[bytes]) -> frozenset[bytes]:
        """What the values of the enumerators, variables and constants of classes spell that `used`
        has, with those that they are calculated from."""
        found: set[bytes] = set()
        seen: set[bytes] = set()
        waiting = list(used)
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                words = self._words_of(name)
                found |= words
                waiting += words
        return frozenset(found)

    def _words_of(self, name: bytes) -> set[bytes]:
        value, previous = self.enumerators.get(name, (None, None))
        values = [value, *(it.value for it in self.scoped.get(name, ()))]
        if name in self.initialised:
            values.append(self.initialised[name].value)
        words = {word for it in values if it is not None for word in _WORD.findall(text_of(it))}
        return words if previous is None else {*words, previous}

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
        for name, inside in other.scoped.items():
            self.scoped.setdefault(name, []).extend(inside)
        for name, functions in other.member_functions.items():
            self.member_functions.setdefault(name, []).extend(functions)
        self.constant_functions |= other.constant_functions
        for name, declarators in other.overloads.items():
            self.overloads.setdefault(name, []).extend(declarators)
        self.made += other.made

    def before(self, other: Declared) -> Declared:
        """Both together; of a name that both declare, what this one says, but every overload."""
        more = {name: [*other.overloads.get(name, ()), *it] for name, it in self.overloads.items()}
        return Declared(
            {**other.typedefs, **self.typedefs},
            {**other.tags, **self.tags},
            {**other.enumerators, **self.enumerators},
            {**other.globals, **self.globals},
            {**other.initialised, **self.initialised},
            {**other.scoped, **self.scoped},
            {**other.member_functions, **self.member_functions},
            other.constant_functions | self.constant_functions,
            {**other.overloads, **more},
            [*self.made, *other.made],
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

    def _add(self, node: Node, is_header: bool, path: Path = ()) -> None:
        kind = node.child_by_field_name("type")
        if kind is not None:
            self._note_specifier(kind, path)
        if node.type == "type_definition" and kind is not None:
            for declarator in node.children_by_field_name("declarator"):
                if (name := declared_name(declarator)) is not None:
                    self.typedefs.setdefault(text_of(name), (kind, declarator))
        elif node.type in ("declaration", "function_definition") and kind is not None:
            for declarator in node.children_by_field_name("declarator"):
                if (name := declared_name(declarator)) is not None:
                    self.globals.setdefault(text_of(name), (kind, declarator))
                    self._note_overload(name, declarator)
                    found = initialised(node, declarator)
                    if found is not None and (is_header or not found.is_static):
                        self.initialised.setdefault(text_of(name), found)
        elif node.type in SPECIFIERS:
            self._note_specifier(node)

    def _add_cplusplus(self, node: Node, path: Path, is_header: bool) -> None:
        kind = node.child_by_field_name("type")
        if node.type == "function_definition" and is_constexpr(node):
            self._note_constexpr(node)
        if node.type == "alias_declaration" and kind is not None:
            self._note_alias(node, kind)
        elif not path or node.type == "type_definition":
            self._add(node, is_header, path)
            return
        made = node if node.type in SPECIFIERS else kind
        if made is not None:
            self._note_specifier(made, path)
        if kind is not None:
            self._note_scoped(node, kind, path)
        if path and node.type in ("function_definition", "field_declaration", "declaration"):
            self._note_functions(node)

    def _note_alias(self, node: Node, descriptor: Node) -> None:
        """`using T = ...;`"""
        name, specifier = node.child_by_field_name("name"), descriptor.child_by_field_name("type")
        declarator = descriptor.child_by_field_name("declarator")
        if name is not None and specifier is not None:
            self.typedefs.setdefault(text_of(name), (specifier, declarator))

    def _note_scoped(self, node: Node, kind: Node, path: Path) -> None:
        """Variables of a namespace, members of a class."""
        if node.type not in ("declaration", "field_declaration"):
            return
        for declarator in node.children_by_field_name("declarator"):
            name = declared_name(declarator)
            if name is None:
                continue
            is_initialised = declarator.type == "init_declarator"
            inner = declarator.child_by_field_name("declarator") if is_initialised else declarator
            value = (declarator.child_by_field_name("value") if is_initialised
                     else node.child_by_field_name("default_value"))  # fmt: skip
            is_const = is_constant(node, inner or declarator)
            found = Scoped(path, kind, inner, value, is_const=is_const)
            self.scoped.setdefault(text_of(name), []).append(found)

    def _note_constexpr(self, node: Node) -> None:
        declarator = node.child_by_field_name("declarator")
        name = declared_name(declarator) if declarator is not None else None
        if name is not None and b"&" not in text_of(declarator or name):
            self.constant_functions.add(text_of(name))

    def _note_functions(self, node: Node) -> None:
        for declarator in node.children_by_field_name("declarator"):
            name = declared_name(declarator)
            if name is not None and any(it.type == "function_declarator" for it in ancestors(name)):
                kind = node.child_by_field_name("type")
                self.member_functions.setdefault(text_of(name), []).append((kind, declarator))
                self._note_overload(name, declarator)

    def _note_overload(self, name: Node, declarator: Node) -> None:
        if parameter_list(declarator) is not None:
            self.overloads.setdefault(text_of(name), []).append(declarator)

    def _note_specifier(self, node: Node, path: Path = ()) -> None:
        body = node.child_by_field_name("body")
        if body is None:
            return
        if node.type == "enum_specifier":
            is_scoped = any(child.type in ("class", "struct") for child in node.children)
            name = node.child_by_field_name("name")
            if name is not None and (is_scoped or path):
                self._note_scoped_enumerators(body, (*path, text_of(name)))
            if path and not is_scoped:
                self._note_scoped_enumerators(body, path)
            if not path and not is_scoped:
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

    def _note_scoped_enumerators(self, body: Node, path: Path) -> None:
        value: Node | None = None
        steps = 0
        for item in body.named_children:
            name = item.child_by_field_name("name")
            if item.type != "enumerator" or name is None:
                continue
            if (own := item.child_by_field_name("value")) is not None:
                value, steps = own, 0
            found = Scoped(path, None, None, value, steps, is_enumerator=True)
            self.scoped.setdefault(text_of(name), []).append(found)
            steps += 1


def _made(node: Node, path: Path) -> Iterator[Made]:
    """What a declaration makes of templates with arguments: a class by its bases, an alias, an
    object."""
    kind = node if node.type in CLASSES else node.child_by_field_name("type")
    if kind is None:
        return
    names = [it for it in (node, *node.children_by_field_name("declarator")) if it != kind]
    made = kind
    if kind.type in CLASSES:
        names = [kind]
        made = next((it for it in kind.children if it.type == "base_class_clause"), kind)
    elif kind.type == "type_descriptor":
        made = kind.child_by_field_name("type") or kind
    parts = made.named_children if made.type == "base_class_clause" else [made]
    for part in parts:
        listed = part.child_by_field_name("arguments") if part.type == "template_type" else None
        for it in names if listed is not None else ():
            name = it.child_by_field_name("name") or declared_name(it)
            if name is not None and listed is not None:
                yield from (((*path, text_of(name)), given) for given in listed.named_children)


def differing(declared: Sequence[Declared]) -> set[bytes]:
    """Names of types, enumerators and kept values that are declared in different ways."""
    seen: dict[tuple[str, bytes], tuple[bytes, ...]] = {}
    found: set[bytes] = set()

    def note(kind: str, name: bytes, *texts: bytes) -> None:
        if seen.setdefault((kind, name), texts) != texts:
            found.add(name)

    for one in declared:
        for name, (kind, declarator) in one.typedefs.items():
            note("type", name, text_of(kind), text_of(declarator) if declarator else b"")
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
        if node.type in _NAMES:
            return node
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type in ("qualified_identifier", "template_function"):
            inner = node.child_by_field_name("name")
        elif inner is None and node.type in WITHOUT_FIELD and node.named_children:
            inner = node.named_children[-1]
        node = inner
    return None


def is_constexpr(node: Node) -> bool:
    """Whether a compiler can evaluate a function."""
    return any(text_of(it) in (b"constexpr", b"consteval") for it in node.children[:6])


def parameter_names(function: Node) -> list[bytes]:
    """Names of a function's parameters; b"" for one without."""
    listed = parameter_list(function)
    names: list[bytes] = []
    for parameter in listed.named_children if listed is not None else ():
        inner = parameter.child_by_field_name("declarator")
        name = declared_name(inner) if inner is not None else None
        if name is not None or text_of(parameter) != b"void":
            names.append(text_of(name) if name is not None else b"")
    return names
