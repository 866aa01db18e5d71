"""Attributes that make a C function end with `mret`, wherever they are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from porter.source.c_lexer import Token
from porter.source.macros import MacroTable
from porter.source.token_tools import matching, split_arguments

WORDS = frozenset({b"interrupt", b"__interrupt__"})
_ATTRIBUTE = frozenset({b"__attribute__", b"__attribute"})
_NAMESPACES = frozenset({b"gnu", b"__gnu__", b"riscv"})
_FARTHEST = 200  # tokens from the keyword to a word of the same attribute


@dataclass(frozen=True)
class Attribute:
    """`__attribute__((a, b(1)))` at [start, end): the tokens of each of its words."""

    start: int
    end: int
    words: tuple[tuple[Token, ...], ...]


def attribute_around(tokens: Sequence[Token], index: int) -> Attribute | None:
    """The attribute that a token is in; None if it is in none, or in one that isn't whole."""
    for opening in range(index - 1, max(index - _FARTHEST, -1), -1):
        if tokens[opening].text not in _ATTRIBUTE:
            continue
        closing = matching(tokens, opening + 1)
        if closing is None or closing < index or tokens[opening + 2].text != b"(":
            return None
        inner = matching(tokens, opening + 2)
        if inner is None or inner + 1 != closing:
            return None
        words = split_arguments(tokens[opening + 3 : inner])
        start, end = tokens[opening].start, tokens[closing].end
        return Attribute(start, end, tuple(tuple(word) for word in words))
    return None


def is_interrupt(tokens: Sequence[Token], index: int, macros: MacroTable) -> bool:
    """Whether a token makes an interrupt handler of the function declared there: the attribute's
    word, a name for it, or the macro that puts it into an attribute."""
    token = tokens[index]
    if token.kind != "identifier":
        return False
    macro = macros.get(token.text)
    if token.text in WORDS or (macro is not None and macro.parameters is None):
        means = token.text in WORDS or _are_words(tokens[index : index + 1], macros)
        return means and _is_word(tokens, index)
    if macro is None or tokens[index + 1 : index + 2] == () or tokens[index + 1].text != b"(":
        return False
    closing = matching(tokens, index + 1)
    if closing is None or _ATTRIBUTE.isdisjoint(macros.expanded(macro.text)):
        return _is_word(tokens, index) and _are_words(macro.body, macros)
    given = [
        number
        for number in range(index + 2, closing)
        if tokens[number].kind == "identifier" and _are_words(tokens[number : number + 1], macros)
    ]
    return any(attribute_around(tokens, it) is None for it in given)


def _is_word(tokens: Sequence[Token], index: int) -> bool:
    """Whether a token begins a word of an attribute."""
    before = [token.text for token in tokens[max(index - 3, 0) : index] if token.text != b":"]
    if before[-1:] == [b"::"]:
        before.pop()
    if before[-1:] and before[-1] in _NAMESPACES:
        return True
    attribute = attribute_around(tokens, index)
    return attribute is not None and any(it[:1] == (tokens[index],) for it in attribute.words)


def _are_words(tokens: Sequence[Token], macros: MacroTable) -> bool:
    """Whether tokens bring such a word, with no attribute around it, once they are expanded."""
    texts = macros.expand(tokens)
    return not WORDS.isdisjoint(texts) and _ATTRIBUTE.isdisjoint(texts)
