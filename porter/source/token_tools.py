"""Small questions about token lists: partners of brackets, arguments of a call."""

from __future__ import annotations

import re
from collections.abc import Sequence

from porter.source.c_lexer import Token

_OPEN = {b"(": b")", b"[": b"]", b"{": b"}"}
_CLOSE = frozenset(_OPEN.values())


def has_word(text: bytes, name: bytes) -> bool:
    """Whether a name stands in a text as a whole word."""
    return re.search(rb"(?<!\w)" + re.escape(name) + rb"(?!\w)", text) is not None


def matching(tokens: Sequence[Token], opening: int) -> int | None:
    """Index of the bracket that closes the one at `opening`, or None if there is none."""
    stack: list[bytes] = []
    for index in range(opening, len(tokens)):
        text = tokens[index].text
        if tokens[index].kind != "punctuator":
            continue
        if text in _OPEN:
            stack.append(_OPEN[text])
        elif text in _CLOSE:
            if not stack or stack.pop() != text:
                return None
            if not stack:
                return index
    return None


def argument_at(tokens: Sequence[Token], index: int) -> tuple[int, int] | None:
    """What an argument that is one token is of: the index of the call's name, and which argument
    it is; None if a token isn't one by itself."""
    if index + 1 >= len(tokens) or tokens[index + 1].text not in (b",", b")"):
        return None
    position = depth = 0
    for at in range(index - 1, 0, -1):
        text = tokens[at].text
        if at == index - 1 and text not in (b",", b"("):
            return None
        if text in _CLOSE:
            depth += 1
        elif text in _OPEN and depth:
            depth -= 1
        elif text == b"(":
            return (at - 1, position) if tokens[at - 1].kind == "identifier" else None
        elif text in _OPEN or (text == b";" and not depth):
            return None
        elif text == b"," and not depth:
            position += 1
    return None


def is_qualified(tokens: Sequence[Token], index: int) -> bool:
    """Whether a name is that of a class or a namespace: `Core::name`, but not `::name`."""
    before = tokens[max(0, index - 3) : index]
    if len(before) < 3 or not before[1].text == before[2].text == b":":
        return False
    return before[0].kind == "identifier" or before[0].text == b">"


def body_behind(tokens: Sequence[Token], name: int) -> int | None:
    """Index of the `{` of the function that a name defines, `name ( ... ) {` with attributes in
    between; None if it is no definition's."""
    if name + 1 >= len(tokens) or tokens[name + 1].text != b"(":
        return None
    closing = matching(tokens, name + 1)
    return body_of(tokens, closing) if closing is not None else None


def body_of(tokens: Sequence[Token], closing: int) -> int | None:
    """Index of the `{` behind the parameters of a function, attributes in between, or behind what
    a constructor initialises; None if what the parenthesis at `closing` closes are no parameters
    of a definition."""
    position = closing + 1
    while position < len(tokens):
        text = tokens[position].text
        if text == b"{":
            return position
        if text == b"(":
            after = matching(tokens, position)
            if after is None:
                return None
            position = after + 1
        elif tokens[position].kind == "identifier":
            position += 1
        elif text == b":":
            return _behind_initialisers(tokens, position + 1)
        else:
            return None
    return None


def _behind_initialisers(tokens: Sequence[Token], position: int) -> int | None:
    """Index of the `{` behind `member(value), base<int>{value}`; None if something else stands
    there."""
    while position < len(tokens) and tokens[position].kind == "identifier":
        while position < len(tokens) and tokens[position].text not in (b"(", b"{", b";", b"}"):
            position += 1
        closing = matching(tokens, position) if position < len(tokens) else None
        if closing is None or closing + 1 >= len(tokens):
            return None
        if tokens[closing + 1].text == b"{":
            return closing + 1
        if tokens[closing + 1].text != b",":
            return None
        position = closing + 2
    return None


def split_arguments(tokens: Sequence[Token]) -> list[list[Token]]:
    """Tokens between commas that are in no bracket; [] for no tokens."""
    if not tokens:
        return []
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        if token.kind == "punctuator":
            depth += (token.text in _OPEN) - (token.text in _CLOSE)
        if token.text == b"," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def without_linkage(tokens: Sequence[Token]) -> list[Token]:
    """Tokens without `extern "C" {` and the brace that closes it."""
    dropped: set[int] = set()
    for index in range(len(tokens) - 2):
        if tokens[index].text == b"extern" and tokens[index + 1].kind == "string":
            dropped |= {index, index + 1}
            if tokens[index + 2].text == b"{":
                closing = matching(tokens, index + 2)
                dropped |= {index + 2} if closing is None else {index + 2, closing}
    return [token for index, token in enumerate(tokens) if index not in dropped]
