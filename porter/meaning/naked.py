"""Which functions are naked."""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.source.c_lexer import Token
from porter.source.token_tools import matching

_NAKED = frozenset({b"naked", b"__naked__"})
_ENDS = frozenset({b";", b"}", b"{"})


def is_naked(unit: Unit, name: str, body: int | None = None) -> bool:
    """Whether a declaration or the definition of a function in this file is naked, as it is written
    or by a macro. `body`: where the definition's begins that is meant; another #if arm may have
    one that isn't."""
    tokens = unit.text.lexed.tokens
    for index, token in enumerate(tokens[:-1]):
        if token.text != name.encode("latin-1") or tokens[index + 1].text != b"(":
            continue
        first, last = index, matching(tokens, index + 1) or index
        while first and tokens[first - 1].text not in _ENDS:
            first -= 1
        while last + 1 < len(tokens) and tokens[last + 1].text not in _ENDS:
            last += 1
        behind = tokens[last + 1] if last + 1 < len(tokens) else None
        if body is not None and behind is not None and behind.text == b"{" and behind.start != body:
            continue
        if any(_says_so(unit, word) for word in tokens[first : last + 1]):
            return True
    return False


def naked_functions(unit: Unit) -> Iterator[tuple[str, int, int]]:
    """Name and [start, end) of the body of each naked function that a file defines."""
    words = {it.text: it for it in unit.text.lexed.tokens if it.kind == "identifier"}
    if not any(_says_so(unit, it) for it in words.values()):
        return
    tokens = unit.text.balanced
    for name, start, end in unit.text.functions:
        if is_naked(unit, name.decode("latin-1"), tokens[start].start):
            yield name.decode("latin-1"), tokens[start].start, tokens[end - 1].end


def _says_so(unit: Unit, word: Token) -> bool:
    expansion = unit.text.expansion(word) if word.kind == "identifier" else None
    return word.text in _NAKED or (expansion is not None and not _NAKED.isdisjoint(expansion.texts))
