"""Which names of a file may be variables, parameters or fields: by the tokens around them."""

from __future__ import annotations

from porter.source.c_lexer import LexedSource

DECLARES_NOTHING = frozenset({b"return", b"else", b"do", b"case", b"goto", b"and", b"or", b"not",
                               b"throw", b"co_await", b"co_return", b"co_yield"})  # fmt: skip
"""Words that may stand before an expression; other words before a name declare it."""


def objects_in(lexed: LexedSource) -> set[bytes]:
    """Names that something is declared by, be it at another place of the file."""
    found: set[bytes] = set()
    tokens = lexed.tokens
    for index in range(1, len(tokens) - 1):
        token = tokens[index]
        if token.kind != "identifier":
            continue
        before, after = tokens[index - 1], tokens[index + 1].text
        if (before.text == b"*" and after in (b")", b"[")) or (
            after in (b";", b",", b"=", b")", b"[")
            and (
                (before.kind == "identifier" and before.text not in DECLARES_NOTHING)
                or before.text in (b"*", b"&", b">")
            )
        ):
            found.add(token.text)
    return found
