"""Casts to types of the project's own, told from calls: `(word_t)(x)` is either, and a parser that
knows no types takes it for a call of what the first parentheses have.
"""

from __future__ import annotations

import re

_EITHER = re.compile(rb"(\w+|[^\w\s])\s*\(\s*([A-Za-z_]\w*)\s*(?=\)\s*\()")
_IN_FRONT = frozenset({b"return", b"case", b"else", b"do"})
_OPERATORS = frozenset(b"{ } ( ; , = + - * / % & | ^ ~ ! < > ? : [".split())
_SPECIFIERS = frozenset(
    b"""const volatile static extern register inline __inline __inline__ auto restrict __restrict
    struct union enum sizeof return case else do __extension__ _Alignof __alignof__""".split()
)


def with_casts(text: bytes) -> bytes:
    """Preprocessed C in which such a cast says `(word_t const)(x)`, which is one to anybody. A name
    that may be something else than the type in some place stays as it is."""
    names = {match[2] for match in _EITHER.finditer(text)}
    types = {name for name in names if _is_only_type(text, name)}
    return _EITHER.sub(lambda it: _told(it) if it[2] in types else it[0], text) if types else text


def _told(match: re.Match[bytes]) -> bytes:
    before = match[1]
    is_cast = before in _IN_FRONT if before[:1].isalnum() or before[:1] == b"_" else (
        before in _OPERATORS
    )  # fmt: skip
    return match[0] + b" const" if is_cast else match[0]


def _is_only_type(text: bytes, name: bytes) -> bool:
    """Whether a typedef says so, and nothing looks as if it declared the name as anything else."""
    word = re.escape(name)
    plain = rb"\btypedef\b[^;{}()]*[\s*]%s\s*;" % word
    of_functions = rb"\btypedef\b[^;{}()]*\(\s*\*\s*(?:\w+\s+)*%s\s*\)\s*\(" % word
    if re.search(plain, text) is None and re.search(of_functions, text) is None:
        return False
    for match in re.finditer(rb"(\w+|[*{,])\s*\b%s\b\s*([^\w\s]?)" % word, text):
        before, behind = match[1], match[2]
        if before in (b"{", b","):
            if behind in (b"=", b",", b"}"):  # a constant of an enum
                return False
        elif before not in _SPECIFIERS and not _is_typedef(text, match.start()):
            return False
    return True


def _is_typedef(text: bytes, place: int) -> bool:
    start = max(text.rfind(mark, 0, place) for mark in (b";", b"{", b"}"))
    return re.match(rb"(?:\s|#[^\n]*\n)*typedef\b", text[start + 1 : place + 8]) is not None
