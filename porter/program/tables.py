"""Objects of C that begin with a value: what that names is in the program only with the object,
which the linker drops where nothing has its name (one section an object).

That goes for an object whose declaration says nothing but storage, one type and the name. An
attribute may keep it, or put it where somebody walks over a section, and a word that is neither
keyword, macro nor the type may stand for one.
"""

from __future__ import annotations

from collections.abc import Sequence

from porter.program.c_text import CText
from porter.source.c_lexer import Token

_NO_TYPE = frozenset({b"static", b"extern", b"const", b"volatile", b"*"})
_BUILT_IN = frozenset(
    {b"void", b"char", b"short", b"int", b"long", b"float", b"double", b"signed", b"unsigned",
     b"_Bool"}
)  # fmt: skip
_TAGGED = frozenset({b"struct", b"union", b"enum"})


def owner_of(declaration: Sequence[Token], text: CText) -> bytes | None:
    """The object that a declaration, up to its `=`, is of; None if it may be kept."""
    before = _without_sizes(declaration)
    if not before or before[-1].kind != "identifier" or before[-1].text in text.evaluator.macros:
        return None
    words: list[bytes] = []
    for token in before[:-1]:
        made = text.expansion(token) if token.kind == "identifier" else None
        if made is not None and made.takes_arguments:
            return None
        words += [token.text] if made is None else made.texts
    return before[-1].text if _is_one_type(words) else None


def _without_sizes(declaration: Sequence[Token]) -> Sequence[Token]:
    """Without the brackets of an array."""
    end = len(declaration)
    while end and declaration[end - 1].text == b"]":
        opening = (n for n in range(end - 1, -1, -1) if declaration[n].text == b"[")
        end = next(opening, 0)
    return declaration[:end]


def _is_one_type(words: Sequence[bytes]) -> bool:
    """Whether words are one type's and qualifiers."""
    left = [word for word in words if word not in _NO_TYPE]
    if left[:1] and left[0] in _TAGGED:
        left = left[1:]
    elif any(word in _BUILT_IN for word in left):
        return all(word in _BUILT_IN for word in left)
    return len(left) == 1 and left[0].replace(b"_", b"a").isalnum()
