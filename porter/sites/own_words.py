"""What a declaration says of the object itself, not of what it points to."""

from __future__ import annotations

from porter.program.c_text import CText
from porter.source.c_lexer import lex_fragment
from porter.source.c_tree import Node
from porter.source.declared import declared_name

_WITHOUT_HEADER = {
    b"__IO": b"volatile", b"__O": b"volatile", b"__OM": b"volatile", b"__IOM": b"volatile",
    b"__I": b"volatile", b"__IM": b"volatile", b"__volatile": b"volatile",
    b"__volatile__": b"volatile", b"__const": b"const", b"__const__": b"const",
    b"constexpr": b"const",
}  # fmt: skip


def own_words(text: CText, kind: Node, declarator: Node) -> frozenset[bytes]:
    """The words in front of a name, and those that macros stand for. `kind`: its type."""
    name = declared_name(declarator)
    declaration = kind.parent
    first = declaration.child_by_field_name("declarator") if declaration is not None else None
    if name is None or declaration is None or first is None:
        return frozenset()
    specifiers = _words(text, text.file.data[declaration.start_byte : first.start_byte])
    _, star, own = text.file.data[declarator.start_byte : name.start_byte].rpartition(b"*")
    if not star:
        return specifiers
    written = text.file.data[declaration.start_byte : first.start_byte].split()
    constant = {b"const"} if b"constexpr" in written else set()
    return _words(text, own) | (specifiers & {b"static"}) | constant


def _words(text: CText, specifiers: bytes) -> frozenset[bytes]:
    tokens = lex_fragment(specifiers)
    words = {token.text for token in tokens} | set(text.evaluator.macros.expand(tokens))
    return frozenset(words | {_WITHOUT_HEADER[it] for it in words if it in _WITHOUT_HEADER})
