"""Classes that a text of C++ defines, on its tokens, and what objects of them hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from porter.source.c_lexer import Token
from porter.source.token_tools import matching


def classes_in(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """The name and the opening brace of each class that a text of C++ defines."""
    for index, token in enumerate(tokens[:-1]):
        if token.text not in (b"class", b"struct") or tokens[index + 1].kind != "identifier":
            continue
        opening = index + 2
        while opening < len(tokens) and tokens[opening].text not in (b"{", b";", b"(", b")", b"="):
            opening += 1
        if opening < len(tokens) and tokens[opening].text == b"{":
            yield index + 1, opening


def made_with(tokens: Sequence[Token]) -> Iterator[tuple[bytes, set[bytes]]]:
    """Classes that a text of C++ defines, each with the names of its bases and of what its members
    are: who makes an object of it makes those, too."""
    for name, opening in classes_in(tokens):
        bases = {it.text for it in tokens[name + 1 : opening] if it.kind == "identifier"}
        yield tokens[name].text, bases | _of_members(tokens, opening)


def _of_members(tokens: Sequence[Token], opening: int) -> set[bytes]:
    found: set[bytes] = set()
    member: set[bytes] = set()
    index = opening + 1
    while index < len(tokens) and tokens[index].text != b"}":
        text, before = tokens[index].text, tokens[index - 1].text
        if text in (b"{", b"("):
            if text == b"(" and before != b"alignas" and b"=" not in member:
                member = set()  # a function
            index = (matching(tokens, index) or len(tokens)) + 1
            if text == b"{" and index < len(tokens) and tokens[index].text not in (b";", b","):
                member = set()  # its body, or a class of its own
            continue
        if text == b";":
            found |= member
            member = set()
        elif text in (b"*", b"&"):
            member.discard(before)
        elif tokens[index].kind == "identifier" or text == b"=":
            member.add(text)
        index += 1
    return found - {b"="}
