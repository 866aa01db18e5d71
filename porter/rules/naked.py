"""Naked functions: who they are, and how a prototype stops saying so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from porter.project.knowledge import CText
from porter.rules.unit import Unit
from porter.source.c_lexer import Token
from porter.source.c_tree import Node, text_of
from porter.source.c_types import declared_name
from porter.source.edit import Edit
from porter.source.token_tools import matching, split_arguments

_NAKED = frozenset({b"naked", b"__naked__"})
_ATTRIBUTE = frozenset({b"__attribute__", b"__attribute"})
_ENDS = frozenset({b";", b"}", b"{"})


def is_naked(unit: Unit, name: str) -> bool:
    """Whether a declaration or the definition of a function in this file is naked."""
    return any(True for _ in _attributes(unit.text, name.encode("latin-1")))


def parameters_of(function: Node) -> list[str]:
    """Names of a function's parameters."""
    declarator = function.child_by_field_name("declarator")
    while declarator is not None and declarator.type == "pointer_declarator":
        declarator = declarator.child_by_field_name("declarator")
    parameters = declarator.child_by_field_name("parameters") if declarator is not None else None
    names: list[str] = []
    for parameter in parameters.named_children if parameters is not None else []:
        inner = parameter.child_by_field_name("declarator")
        name = declared_name(inner) if inner is not None else None
        if name is not None:
            names.append(text_of(name).decode("latin-1"))
    return names


def strip_naked(text: CText, names: set[str]) -> Iterator[Edit]:
    """Edits that make functions ordinary: their bodies are C now."""
    for name in names:
        for start, end, replacement in _attributes(text, name.encode("latin-1")):
            while start and text.file.data[start - 1 : start] in (b" ", b"\t"):
                start -= 1
            yield Edit(start, end, replacement)


def _attributes(text: CText, name: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Places of the naked attribute in declarations of a function, and what stays of each."""
    tokens = text.lexed.tokens
    seen: set[int] = set()
    for index, token in enumerate(tokens[:-1]):
        if token.text != name or tokens[index + 1].text != b"(":
            continue
        closing = matching(tokens, index + 1)
        first = index
        while first and tokens[first - 1].text not in _ENDS:
            first -= 1
        last = closing if closing is not None else index
        while last + 1 < len(tokens) and tokens[last + 1].text not in _ENDS:
            last += 1
        for place in _in_declaration(text, tokens, first, last):
            if place[0] not in seen:
                seen.add(place[0])
                yield place


def _in_declaration(
    text: CText, tokens: Sequence[Token], first: int, last: int
) -> Iterator[tuple[int, int, bytes]]:
    index = first
    while index <= last:
        token = tokens[index]
        if token.text in _ATTRIBUTE and index + 1 <= last:
            closing = matching(tokens, index + 1)
            if closing is None:
                return
            inner = split_arguments(tokens[index + 3 : closing - 1])
            kept = [part for part in inner if part and part[0].text not in _NAKED]
            if len(kept) < len(inner):
                words = b", ".join(b"".join(t.text for t in part) for part in kept)
                stays = b" __attribute__((%s))" % words if kept else b""
                yield token.start, tokens[closing].end, stays
            index = closing + 1
            continue
        expansion = text.expansion(token) if token.kind == "identifier" else None
        if expansion is not None and _NAKED & set(expansion):
            yield token.start, token.end, b""
        index += 1
