"""Functions that uses of macros define: `LOG(on)` with `#define LOG(f) void f(char *s) {...}`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from porter.program.c_text import CText
from porter.program.functions import names_of_functions
from porter.source.c_lexer import Token, lex_fragment
from porter.source.macros import MacroTable, uses_in


def made_functions(texts: Iterable[CText]) -> set[str]:
    """Those of all these files."""
    return {name.decode("latin-1") for text in texts for name, _ in made_in(text)}


def made_in(text: CText) -> Iterator[tuple[bytes, set[bytes]]]:
    """Those of a file, each with what it may mention: the macros that make it, and all their
    words."""
    tokens, macros = text.balanced, text.evaluator.macros
    outside = 0
    for _, body, end in text.with_members:
        yield from _made(tokens[outside:body], macros, b"{ }")
        outside = end
    yield from _made(tokens[outside:], macros, b"")


def _made(
    tokens: list[Token], macros: MacroTable, behind: bytes
) -> Iterator[tuple[bytes, set[bytes]]]:
    """Those in code outside of functions. `behind` it stands a body, whose function a use may
    name: `void TASK(blink) {`."""
    before = {after.start: token for token, after in pairwise(tokens)}
    for use in uses_in(tokens, macros):
        trace = macros.traced(use)
        made = b" ".join(trace.texts)
        if b"(" not in made:
            continue
        typed = use[0].start in before and before[use[0].start].kind == "identifier"
        parts = (b"int" if typed else b"", made, behind if use[-1] is tokens[-1] else b"")
        for name in names_of_functions(list(lex_fragment(b" ".join(parts)))):
            yield name, {*trace.used, *trace.texts} - {name}
