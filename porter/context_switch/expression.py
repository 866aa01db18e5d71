"""Constant expressions of assemblers for GNU's assembler or the preprocessor: each of them ranks
operators in its own way, and doesn't take the same number for true.

What means the same in both stays as it is written; anything else gets its parentheses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from porter.context_switch.result import NotTranscribable

_COMPARISONS = {it: it for it in ("==", "!=", "<", ">", "<=", ">=")}
_OTHER_COMPARISONS = {**_COMPARISONS, "=": "==", "<>": "!="}
_TRUTHS = frozenset({*_COMPARISONS, "&&", "||", "!"})
_JOINED = frozenset({"&&", "||", "!"})  # ask for true or false alone
_UNARY = {"-": "-", "+": "+", "~": "~", "!": "!", ":NOT:": "~", ":LNOT:": "!"}
_TOKEN = re.compile(
    r"\s*(:[A-Za-z]+:|defined\(\w+\)|'[^']*'|(?:[\w.$]|\\[\w@]|\\\(\))+"
    r"|<<|>>|<=|>=|==|!=|<>|/=|&&|\|\||\S)"
)
_LEAF = re.compile(r"defined\(|['\w.$\\]")


@dataclass(frozen=True)
class Language:
    """`ranks` of binary operators, those that bind first in front, with what C calls them; `true`
    is a comparison's result, None where that is no number. Operators of a rank go left to right."""

    ranks: tuple[Mapping[str, str], ...]
    true: int | None
    space: str = ""  # around an operator that is written


def _same(*operators: str) -> dict[str, str]:
    return {it: it for it in operators}


C = Language(
    (
        *(_same("*", "/", "%"), _same("+", "-"), _same("<<", ">>"), _same("<", ">", "<=", ">=")),
        *(_same("==", "!="), _same("&"), _same("^"), _same("|"), _same("&&"), _same("||")),
    ),
    true=1,
    space=" ",
)
# As the assembler does it: its manual has + and - in one rank with comparisons.
GNU = Language(
    (
        *(_same("*", "/", "%", "<<", ">>"), _same("|", "&", "^"), _same("+", "-")),
        *({**_COMPARISONS, "<>": "!="}, _same("&&"), _same("||")),
    ),
    true=-1,
)
# DUI0379, 7.28, with the aliases of 7.21 to 7.26.
ARM = Language(
    (
        {**_same("*", "/", "%"), ":MOD:": "%"},
        {**_same("<<", ">>"), ":SHL:": "<<", ":SHR:": ">>"},
        {**_same("+", "-", "&", "|", "^"), ":AND:": "&", ":OR:": "|", ":EOR:": "^"},
        {**_OTHER_COMPARISONS, "/=": "!="},
        {**_same("&&", "||"), ":LAND:": "&&", ":LOR:": "||"},
    ),
    true=None,
)
# IAR Assembler for Arm, "Summary of assembler operators": its synonyms rank as in Arm's assembler.
IAR = Language(
    (
        {**_same("*", "/", "%"), ":MOD:": "%"},
        {":SHL:": "<<", ":SHR:": ">>"},
        {**_same("+", "-"), ":AND:": "&", ":OR:": "|", ":EOR:": "^"},
        _same("<<", ">>"),
        _same("&", "&&"),
        {**_same("|", "^", "||"), ":LOR:": "||"},
        _OTHER_COMPARISONS,
        {":LAND:": "&&"},
    ),
    true=1,
)
_IAR_WORD = re.compile(
    rb"^[ \t]*(?:rseg|section|asegn?|public|pubweak|module|program)\b", re.IGNORECASE | re.MULTILINE
)


def language_of(clean: bytes) -> Language:
    """Arm's or IAR's, by the directives of a text without comments."""
    return IAR if _IAR_WORD.search(clean) else ARM


def is_expression(text: str, source: Language) -> bool:
    """Whether all of a text is one."""
    return read(text, source) is not None


def is_sum(text: str, source: Language) -> bool:
    """Whether a text is an operator between two values, with no parentheses around the whole."""
    tree = read(text, source)
    if tree is None or len(tree.parts) != 2:
        return False
    depth = 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return place < len(text) - 1
    return True


def rewritten(text: str, source: Language, target: Language, *, condition: bool) -> str:
    """An expression of the source as one of the target; `condition`: only whether it is true is
    asked. NotTranscribable for what is none, or means nothing in the target."""
    tree = read(text, source)
    if tree is None:
        raise NotTranscribable(f"'{text}' is no expression that is understood")
    spelled = _spelled(text, source)
    if read(spelled, target) == tree and not _counts(tree, source, target, condition):
        return spelled
    if source.true is None and _counts(tree, source, target, condition):
        raise NotTranscribable(f"'{text}' calculates with the result of a comparison")
    return _written(tree, source, target, condition)


@dataclass(frozen=True)
class Node:
    """Part of an expression: `word` is C's operator, or what stands for a value."""

    word: str
    parts: tuple[Node, ...] = ()


class _Reader:
    def __init__(self, text: str, language: Language) -> None:
        self._tokens = _TOKEN.findall(text)
        self._ranks = language.ranks

    def whole(self) -> Node:
        found = self._rank(len(self._ranks) - 1)
        if self._tokens:
            raise ValueError(self._tokens[0])
        return found

    def _rank(self, rank: int) -> Node:
        if rank < 0:
            return self._single()
        found = self._rank(rank - 1)
        while self._next() in self._ranks[rank]:
            word = self._ranks[rank][self._take()]
            found = Node(word, (found, self._rank(rank - 1)))
        return found

    def _single(self) -> Node:
        token = self._take()
        if token in _UNARY:
            return Node(_UNARY[token], (self._single(),))
        if token == "(":
            found = self._rank(len(self._ranks) - 1)
            if self._take() != ")":
                raise ValueError(token)
            return found
        if not _LEAF.match(token):
            raise ValueError(token)
        return Node(token)

    def _next(self) -> str:
        return self._tokens[0].upper() if self._tokens else ""

    def _take(self) -> str:
        token = self._tokens.pop(0) if self._tokens else ""
        return token.upper() if token.startswith(":") else token


def read(text: str, language: Language) -> Node | None:
    """What a text says, None for what is no expression."""
    try:
        return _Reader(text.rstrip(), language).whole()
    except ValueError:
        return None


def _spelled(text: str, source: Language) -> str:
    """The operators' names alone changed."""
    names = {**_UNARY, **{word: name for rank in source.ranks for word, name in rank.items()}}

    def name(token: re.Match[str]) -> str:
        lead = token.group()[: token.start(1) - token.start()]
        return lead + names.get(token.group(1).upper(), token.group(1))

    return _TOKEN.sub(name, text)


def _counts(tree: Node, source: Language, target: Language, condition: bool) -> bool:
    """Whether a truth is used as a number that isn't the target's."""
    other = tree.word in _COMPARISONS and bool(tree.parts) and source.true != target.true
    if source.true is None:
        other = bool(tree.parts) and tree.word in _TRUTHS
    if other and not condition:
        return True
    return any(_counts(part, source, target, tree.word in _JOINED) for part in tree.parts)


def _written(tree: Node, source: Language, target: Language, condition: bool) -> str:
    if not tree.parts:
        return tree.word
    asks = tree.word in _JOINED
    parts = [_written(part, source, target, asks) for part in tree.parts]
    parts = [
        f"({text})" if part.parts else text for part, text in zip(tree.parts, parts, strict=True)
    ]
    text = tree.word + parts[0]
    if len(parts) > 1:
        text = f"{target.space}{tree.word}{target.space}".join(parts)
    is_comparison = tree.word in _COMPARISONS
    return f"-({text})" if is_comparison and not condition and source.true != target.true else text
