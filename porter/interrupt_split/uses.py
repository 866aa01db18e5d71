"""Where a file's own text uses one of its static functions."""

from __future__ import annotations

from collections.abc import Iterator

from porter.interrupt_split.functions import Function, Functions
from porter.sites.local_names import declarations
from porter.source.c_lexer import Token
from porter.source.c_tree import text_of
from porter.source.declared import declared_name
from porter.source.inline_asm import ASM_WORDS

OUTSIDE = "a table"
_NAMED = (b"used", b"constructor", b"alias")  # attributes by which others get there


def private_uses(function: Function, functions: Functions) -> list[tuple[str, Token]] | None:
    """All uses of a static function: who, and the token; None if other files may use it too. A
    macro counts as a user; a member or a local of the same name doesn't, nor do declarations."""
    file = function.text.file
    if not _is_private(function) or functions.is_included(file):
        return None
    return list(_uses(function, list(functions.all_of(file))))


def _uses(function: Function, all_here: list[Function]) -> Iterator[tuple[str, Token]]:
    name = function.name.encode("latin-1")
    text = function.text
    for macro in text.evaluator.macros:
        for one in text.evaluator.macros.all_of(macro):
            for token in _named(one.body, name):
                yield macro.decode("latin-1"), token
    spans = [(f.tree.start(f.node), f.tree.end(f.node), f) for f in all_here]
    bodies = {id(f): f.tree.start(f.body) for f in all_here if f.body is not None}
    tokens = text.lexed.tokens
    asm = any(token.text in ASM_WORDS for token in tokens)
    depth = 0
    initialising = False
    for number, token in enumerate(tokens):
        depth += (token.text == b"{") - (token.text == b"}")
        if depth == 0 and token.text in (b";", b"=", b"}"):
            initialising = token.text == b"="
        if token.kind == "string" and (asm or not depth) and name in token.text:
            yield OUTSIDE, token
        if token.kind != "identifier" or token.text != name:
            continue
        if number and tokens[number - 1].text in (b".", b"->"):
            continue
        around = next((f for start, end, f in spans if start <= token.start < end), None)
        after = tokens[number + 1].text if number + 1 < len(tokens) else b""
        called = after == b"("
        if around is None:
            before = tokens[number - 1] if number else token
            typed = before.kind == "identifier" and before.text != b"return"
            member = typed and after in (b";", b",", b"[", b":")
            if initialising or (depth and not member):
                yield OUTSIDE, token
        elif token.start >= bodies.get(id(around), 0) and (called or not _hides(around, name)):
            yield around.name, token


def _is_private(function: Function) -> bool:
    """Whether only calls in its file get to a function, by its name."""
    head = function.text.file.data[: function.tree.end(function.node)]
    head = head[function.tree.start(function.node) :].split(b"{")[0]
    known = function.name.encode("latin-1") in function.text.evaluator.macros
    return function.is_static and not known and not any(word in head for word in _NAMED)


def _named(tokens: tuple[Token, ...] | list[Token], name: bytes) -> Iterator[Token]:
    for number, token in enumerate(tokens):
        member = number and tokens[number - 1].text in (b".", b"->")
        if token.kind == "identifier" and token.text == name and not member:
            yield token


def _hides(function: Function, name: bytes) -> bool:
    """Whether a function has a local or a parameter of this name."""
    found = (declared_name(declarator) for _, declarator, _ in declarations(function.node))
    return any(one is not None and text_of(one) == name for one in found)
