"""What C++ gives arguments to a constructor of: names of objects and members, which look like
calls where a type of several tokens stands in front, or a constructor's list."""

from __future__ import annotations

from collections.abc import Iterator

from porter.program.c_text import CText
from porter.source.c_tree import Node, captured, query, text_of
from porter.source.c_types import TypeTable
from porter.source.declared import declared_name

_PLACES = query(
    "[(declaration) (expression_statement (binary_expression))] @it",
    of_cplusplus=" [(field_declaration) (field_initializer)] @it",
)


def constructed(text: CText) -> set[int]:
    """Where such names stand in a file of C++. Bases are none, as their constructors are called by
    their names, nor is what is declared with a type that nobody declares: `a * f(x);`."""
    if not text.is_cplusplus:
        return set()
    types = text.evaluator.types
    return {
        tree.start(name)
        for tree in text.trees.readable()
        for place in captured(tree.root, _PLACES, "it")
        for name in _names(place, types)
    }


def _names(place: Node, types: TypeTable) -> Iterator[Node]:
    if place.type == "field_initializer":
        yield from (it for it in place.named_children[:1] if text_of(it) in types.of_classes)
        return
    if place.type == "expression_statement":
        yield from _behind_type(place.named_children[0], types)
        return
    kind = place.child_by_field_name("type")
    if kind is None or (kind.type == "type_identifier" and not _is_type(text_of(kind), types)):
        return
    for declarator in place.children_by_field_name("declarator"):
        if (name := declared_name(declarator)) is not None:
            yield name


def _behind_type(product: Node, types: TypeTable) -> Iterator[Node]:
    """`p` of `T *p(x);`, which is a product for the parser."""
    left, right = (product.child_by_field_name(name) for name in ("left", "right"))
    name = right.child_by_field_name("function") if right is not None else None
    is_type = left is not None and left.type == "identifier" and _is_type(text_of(left), types)
    if is_type and name is not None and name.type == "identifier":
        yield name


def _is_type(name: bytes, types: TypeTable) -> bool:
    return types.is_type(name) or bool(types.spelt(name))
