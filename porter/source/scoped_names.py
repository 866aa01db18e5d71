"""What C++ declares inside namespaces and classes, and the names of such things."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from porter.source.c_tree import Node, ancestors, text_of

Path = tuple[bytes, ...]
"""Namespaces and classes around a name, outermost first."""

CLASSES = frozenset({"class_specifier", "struct_specifier", "union_specifier"})
_INSIDE = frozenset({"template_declaration", "linkage_specification", "declaration_list"})


@dataclass(frozen=True)
class Scoped:
    """A variable, a member, or an enumerator, which is `steps` more than `value`."""

    path: Path
    specifier: Node | None
    declarator: Node | None
    value: Node | None
    steps: int = 0
    is_enumerator: bool = False
    is_const: bool = False


def declared(node: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """Declarations in a file, a namespace or a class, and in what is in there, with their place."""
    for child in node.children:
        if child.type == "namespace_definition":
            body = child.child_by_field_name("body")
            if body is not None:
                yield from declared(body, path + _name_of(child))
        elif child.type in _INSIDE:
            yield from declared(child, path)
        else:
            yield path, child
            made = child if child.type in CLASSES else child.child_by_field_name("type")
            body = made.child_by_field_name("body") if made is not None else None
            if made is not None and made.type in CLASSES and body is not None:
                yield from declared(body, path + _name_of(made))


def functions(root: Node) -> Iterator[Node]:
    """The functions that a C++ file defines, members included."""
    return (node for _, node in declared(root) if node.type == "function_definition")


def path_around(node: Node) -> Path:
    """Namespaces and classes whose names mean something at a place: of a member that is defined
    outside its class, those of the class too."""
    path: Path = ()
    for around in ancestors(node):
        if around.type == "namespace_definition" or around.type in CLASSES:
            path = _name_of(around) + path
        elif around.type == "function_definition":
            path = _qualifier(around.child_by_field_name("declarator")) + path
    if node.type == "function_definition":
        path += _qualifier(node.child_by_field_name("declarator"))
    return path


def names_in(qualified: Node) -> Path:
    """`a::B<3>::c` as a, B, c."""
    names: Path = ()
    node: Node | None = qualified
    while node is not None and node.type == "qualified_identifier":
        scope = node.child_by_field_name("scope")
        names += _plain(scope) if scope is not None else ()
        node = node.child_by_field_name("name")
    return names + (_plain(node) if node is not None else ())


def _plain(node: Node) -> Path:
    """A name without the arguments of its template."""
    inner = node.child_by_field_name("name")
    return (text_of(inner if inner is not None else node),)


def whole_name(leaf: Node) -> Node:
    """The qualified name that a name ends, or that name alone."""
    node = leaf
    while (
        node.parent is not None
        and node.parent.type == "qualified_identifier"
        and node.parent.child_by_field_name("name") == node
    ):
        node = node.parent
    return node


def _qualifier(declarator: Node | None) -> Path:
    """`A::B` of the declarator of `void A::B::f()`."""
    node = declarator
    while node is not None and node.type != "qualified_identifier":
        inner = node.child_by_field_name("declarator")
        if inner is None and node.type == "reference_declarator" and node.named_children:
            inner = node.named_children[-1]
        node = inner
    return names_in(node)[:-1] if node is not None else ()


def _name_of(node: Node) -> Path:
    name = node.child_by_field_name("name")
    if name is None:
        return ()
    if name.type == "nested_namespace_specifier":
        return tuple(word for word in text_of(name).replace(b" ", b"").split(b"::") if word)
    return names_in(name) if name.type == "qualified_identifier" else _plain(name)
