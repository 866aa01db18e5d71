"""Variables outside functions that keep the address they begin with: `T *const base = ...`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from porter.source.c_tree import Node
from porter.source.declarations import has_word, is_static

_WRITES = rb"(?<![\w.>])%s\s*(?:[-+*/%%&|^]?=(?!=)|<<=|>>=|\+\+|--)|(?:&|\+\+|--)\s*%s\b"
_STAR = re.compile(rb"\*\s*\Z")


@dataclass(frozen=True)
class Initialised:
    """A variable's type and declarator, its first value, and whether it is const itself."""

    specifier: Node
    declarator: Node
    value: Node
    is_const: bool
    is_static: bool


def initialised(declaration: Node, declarator: Node) -> Initialised | None:
    """What an initialised variable is declared with; None for other declarators."""
    specifier = declaration.child_by_field_name("type")
    inner = declarator.child_by_field_name("declarator")
    value = declarator.child_by_field_name("value")
    if declarator.type != "init_declarator" or specifier is None or inner is None or value is None:
        return None
    is_const = is_constant(declaration, inner)
    return Initialised(specifier, inner, value, is_const, is_static(declaration))


def is_constant(declaration: Node, declarator: Node) -> bool:
    """Whether a declaration makes its variable const. The const of a pointer stands behind its
    star, that of a number before its name; a reference never refers to something else."""
    if declarator.type == "reference_declarator" or has_word(declaration, b"constexpr"):
        return True
    owner = declarator if declarator.type == "pointer_declarator" else declaration
    while (deeper := owner.child_by_field_name("declarator")) is not None and (
        owner is not declaration and deeper.type == "pointer_declarator"
    ):
        owner = deeper
    return has_word(owner, b"const")


def is_written(name: bytes, texts: list[bytes]) -> bool:
    """Whether one of these texts may give a pointer another value. Behind a star stands its
    declaration, or a write to what it points to."""
    word = re.escape(name)
    writes = re.compile(_WRITES % (word, word))
    return any(
        not _STAR.search(text, max(0, found.start() - 20), found.start())
        for text in texts
        if name in text
        for found in writes.finditer(text)
    )
