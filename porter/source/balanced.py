"""A file's tokens with braces that match, where arms of an #if each open or close the same blocks.

    #if READ_ONLY
        if (a > 1) {
    #else
        if (a > 2) {
    #endif
            n = 0;
        }

Only one of the arms is compiled. Counted together, everything behind them would lie inside.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from porter.source.c_lexer import LexedSource, Token
from porter.source.conditions import OPENING
from porter.source.token_tools import without_linkage

_BRACES = (b"{", b"}")


@dataclass
class _Arm:
    """Braces of an arm that have no partner in it, by index: those it closes, those it opens."""

    closed: list[int] = field(default_factory=list)
    opened: list[int] = field(default_factory=list)

    def add(self, index: int, text: bytes) -> None:
        if text == b"{":
            self.opened.append(index)
        elif self.opened:
            self.opened.pop()
        else:
            self.closed.append(index)

    def follow(self, other: _Arm) -> None:
        """What stands in an arm goes on with an arm of a group inside."""
        for index in other.closed:
            self.add(index, b"}")
        self.opened += other.opened

    @property
    def shape(self) -> tuple[int, int]:
        """How many blocks it closes, and how many it opens."""
        return len(self.closed), len(self.opened)


def balanced(lexed: LexedSource) -> list[Token]:
    """The tokens, `extern "C"` taken out, with the braces of one arm where all have the same."""
    dropped = set(_superfluous(lexed))
    kept = [token for index, token in enumerate(lexed.tokens) if index not in dropped]
    return without_linkage(kept)


def _superfluous(lexed: LexedSource) -> Iterator[int]:
    """Indices of braces that repeat those of another arm."""
    groups: list[list[_Arm]] = [[_Arm()]]
    directives = iter(lexed.directives)
    directive = next(directives, None)
    for index, token in enumerate(lexed.tokens):
        if token.text not in _BRACES or token.kind != "punctuator":
            continue
        while directive is not None and directive.start < token.start:
            yield from _turn(groups, directive.name)
            directive = next(directives, None)
        groups[-1][-1].add(index, token.text)
    while directive is not None:
        yield from _turn(groups, directive.name)
        directive = next(directives, None)


def _turn(groups: list[list[_Arm]], directive: bytes) -> Iterator[int]:
    if directive in OPENING:
        groups.append([_Arm()])
    elif directive in (b"elif", b"else") and len(groups) > 1:
        groups[-1].append(_Arm())
    elif directive == b"endif" and len(groups) > 1:
        first, *others = groups.pop()
        agree = first.shape != (0, 0) and all(arm.shape == first.shape for arm in others)
        groups[-1][-1].follow(first)
        for arm in others:
            if agree:
                yield from (*arm.closed, *arm.opened)
            else:
                groups[-1][-1].follow(arm)
