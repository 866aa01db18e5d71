"""A file's tokens with brackets that match, where arms of an #if each open or close the same.

    #if READ_ONLY
        if (a > 1) {
    #else
        if (a > 2) {
    #endif
            n = 0;
        }

Only one of the arms is compiled. Counted together, everything behind them would lie inside. So
braces stay in the first arm alone. A parenthesis that an arm opens may be a call's, so it stays and
is closed where the arm ends, but for the last arm's, which the text closes:

    #if READ_ONLY
        if (a > first(1) ||
    #else
        if (a > second(1) ||
    #endif
            a == 0)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

from porter.source.c_lexer import LexedSource, Token
from porter.source.conditions import OPENING
from porter.source.token_tools import without_linkage

_BRACES = (b"{", b"}")
_PARENTHESES = (b"(", b")")


@dataclass
class _Arm:
    """Brackets of an arm that have no partner in it, by index: those it closes, those it opens.
    `end`: the index of the first token behind it."""

    closed: list[int] = field(default_factory=list)
    opened: list[int] = field(default_factory=list)
    end: int = 0

    def add(self, index: int, opens: bool) -> None:
        if opens:
            self.opened.append(index)
        elif self.opened:
            self.opened.pop()
        else:
            self.closed.append(index)

    def follow(self, other: _Arm) -> None:
        """What stands in an arm goes on with an arm of a group inside."""
        for index in other.closed:
            self.add(index, opens=False)
        self.opened += other.opened

    @property
    def shape(self) -> tuple[int, int]:
        """How many it closes, and how many it opens."""
        return len(self.closed), len(self.opened)


def balanced(lexed: LexedSource) -> list[Token]:
    """The tokens, `extern "C"` taken out, with the brackets of one arm where all have the same."""
    dropped: set[int] = set()
    for arms in _repeated(lexed, _BRACES):
        for arm in arms[1:]:
            dropped.update(arm.closed, arm.opened)
    closing: dict[int, int] = {}
    for arms in _repeated(lexed, _PARENTHESES):
        for arm in arms[1:]:
            dropped.update(arm.closed)
        for arm in arms[:-1]:
            closing[arm.end] = closing.get(arm.end, 0) + len(arm.opened)
    kept: list[Token] = []
    for index, token in enumerate(lexed.tokens):
        for _ in range(closing.get(index, 0)):
            kept.append(Token("punctuator", kept[-1].end, kept[-1].end, b")"))
        if index not in dropped:
            kept.append(token)
    return without_linkage(kept)


def _repeated(lexed: LexedSource, pair: tuple[bytes, bytes]) -> Iterator[list[_Arm]]:
    """Arms of groups that each have the same brackets without a partner."""
    groups: list[list[_Arm]] = [[_Arm()]]
    starts = [token.start for token in lexed.tokens]
    directives = iter(lexed.directives)
    directive = next(directives, None)
    for index, token in enumerate(lexed.tokens):
        if token.text not in pair or token.kind != "punctuator":
            continue
        while directive is not None and directive.start < token.start:
            yield from _turn(groups, directive.name, bisect_left(starts, directive.start))
            directive = next(directives, None)
        groups[-1][-1].add(index, token.text == pair[0])
    while directive is not None:
        yield from _turn(groups, directive.name, bisect_left(starts, directive.start))
        directive = next(directives, None)


def _turn(groups: list[list[_Arm]], directive: bytes, end: int) -> Iterator[list[_Arm]]:
    groups[-1][-1].end = end
    if directive in OPENING:
        groups.append([_Arm()])
    elif directive in (b"elif", b"else") and len(groups) > 1:
        groups[-1].append(_Arm())
    elif directive == b"endif" and len(groups) > 1:
        arms = groups.pop()
        agree = arms[0].shape != (0, 0) and all(arm.shape == arms[0].shape for arm in arms)
        groups[-1][-1].follow(arms[0])
        if agree:
            yield arms
        else:
            for arm in arms[1:]:
                groups[-1][-1].follow(arm)
