"""Small questions about one declaration: what it declares, and which words qualify it."""

from __future__ import annotations

from porter.source.c_tree import Node, text_of

WITHOUT_FIELD = frozenset({"parenthesized_declarator", "reference_declarator"})
"""Declarators whose inner one the grammar gives no name."""

_WORDS = frozenset({"storage_class_specifier", "type_qualifier"})


def has_word(declaration: Node, word: bytes) -> bool:
    """Whether a declaration or a pointer's star has a storage class or qualifier."""
    return any(it.type in _WORDS and text_of(it) == word for it in declaration.children)


def is_static(declaration: Node) -> bool:
    """Whether a declaration has the storage class static: no other file can name what it declares
    at file level."""
    return has_word(declaration, b"static")


def is_declarator(identifier: Node) -> bool:
    """Whether an identifier is the name that a declarator introduces."""
    node: Node = identifier
    while (parent := node.parent) is not None:
        if parent.type.endswith("_declarator"):
            if parent.child_by_field_name("declarator") != node and (
                parent.type not in ("parenthesized_declarator", "reference_declarator")
            ):
                return False
            node = parent
            continue
        if parent.type == "qualified_identifier" and parent.child_by_field_name("name") == node:
            node = parent
            continue
        return parent.type in (
            "declaration", "parameter_declaration", "function_definition", "field_declaration",
            "type_definition", "optional_parameter_declaration", "for_range_loop",
        ) and node in parent.children_by_field_name("declarator")  # fmt: skip
    return False


def outer_declarator(identifier: Node) -> Node:
    """The whole declarator, with its initialiser, that introduces a name."""
    node = identifier
    while node.parent is not None and node.parent.type.endswith("_declarator"):
        node = node.parent
    return node


def outer_declaration(identifier: Node) -> Node:
    """The declaration that a declarator belongs to."""
    outer = outer_declarator(identifier)
    return outer.parent if outer.parent is not None else outer


def parameter_list(declarator: Node | None) -> Node | None:
    """The parentheses of the function that a declarator, or a definition, declares or points to."""
    while declarator is not None and declarator.type != "function_declarator":
        inner = declarator.child_by_field_name("declarator")
        if inner is None and declarator.type in WITHOUT_FIELD and declarator.named_children:
            inner = declarator.named_children[-1]
        declarator = inner
    return declarator.child_by_field_name("parameters") if declarator is not None else None
