"""C++ text as it is parsed: operators as C spells them, and no attributes.

Every byte keeps its place.
"""

from __future__ import annotations

from collections.abc import Sequence

from porter.source.c_lexer import LexedSource, Token
from porter.source.comments import blank
from porter.source.token_tools import matching

_OPERATORS = {
    b"and": b"&&", b"or": b"||", b"not": b"!", b"bitand": b"&", b"bitor": b"|", b"xor": b"^",
    b"compl": b"~", b"and_eq": b"&=", b"or_eq": b"|=", b"xor_eq": b"^=", b"not_eq": b"!=",
}  # fmt: skip
_MOST_IN_ATTRIBUTE = 40  # tokens


def plain_cplusplus(text: bytes, lexed: LexedSource) -> bytes:
    """The text, in which earlier steps may have blanked tokens."""
    buffer = bytearray(text)
    tokens = lexed.tokens
    for index, token in enumerate(tokens):
        if token.text in _OPERATORS:
            if text[token.start : token.end] == token.text:
                sign = _OPERATORS[token.text]
                buffer[token.start : token.end] = sign.ljust(len(token.text))
        elif token.text == b"[" and (end := _attribute_end(tokens, index)) is not None:
            buffer[token.start : end] = blank(text[token.start : end])
        elif token.text == b"alignas" and text[token.start : token.end] == token.text:
            closing = matching(tokens, index + 1) if index + 1 < len(tokens) else None
            if closing is not None:
                end = tokens[closing].end
                buffer[token.start : end] = blank(text[token.start : end])
    return bytes(buffer)


def _attribute_end(tokens: Sequence[Token], index: int) -> int | None:
    """Where `[[...]]` ends that begins at a token; None if it is something else."""
    if index + 1 >= len(tokens) or tokens[index + 1].text != b"[":
        return None
    for end in range(index + 2, min(index + _MOST_IN_ATTRIBUTE, len(tokens) - 1)):
        if tokens[end].text == tokens[end + 1].text == b"]":
            return tokens[end + 1].end
        if tokens[end].text in (b"[", b"{", b";"):
            return None
    return None
