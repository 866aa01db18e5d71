"""Which functions are naked."""

from __future__ import annotations

from porter.judging.unit import Unit
from porter.source.token_tools import matching

_NAKED = frozenset({b"naked", b"__naked__"})
_ENDS = frozenset({b";", b"}", b"{"})


def is_naked(unit: Unit, name: str) -> bool:
    """Whether a declaration or the definition of a function in this file is naked, as it is written
    or by a macro."""
    tokens = unit.text.lexed.tokens
    for index, token in enumerate(tokens[:-1]):
        if token.text != name.encode("latin-1") or tokens[index + 1].text != b"(":
            continue
        first, last = index, matching(tokens, index + 1) or index
        while first and tokens[first - 1].text not in _ENDS:
            first -= 1
        while last + 1 < len(tokens) and tokens[last + 1].text not in _ENDS:
            last += 1
        for word in tokens[first : last + 1]:
            expansion = unit.text.expansion(word) if word.kind == "identifier" else None
            if word.text in _NAKED or (expansion is not None and _NAKED & set(expansion.texts)):
                return True
    return False
