"""Which #if conditions stand around an offset, and the code runs ("arms") between directives."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from porter.source.c_lexer import Directive, LexedSource

OPENING = frozenset({b"if", b"ifdef", b"ifndef"})


@dataclass(frozen=True)
class Arm:
    """Bytes from `start` to the next arm's start that share the same conditions.

    `group` tells the #if groups apart that an arm is nested in and `branch` which of their arms
    it belongs to, outermost first.
    """

    start: int
    conditions: tuple[str, ...]
    group: tuple[int, ...]
    branch: tuple[int, ...]


class ConditionMap:
    """Arms of one file. An unbalanced #endif is ignored, a missing one ends with the file."""

    def __init__(self, lexed: LexedSource) -> None:
        guard = include_guard(lexed)  # whose #ifndef is no condition
        self._arms = [Arm(0, (), (), ())]
        stack: list[tuple[int, int, list[str]]] = []
        for number, directive in enumerate(lexed.directives):
            if directive.name in OPENING:
                stack.append((number, 0, [_text(directive)]))
            elif directive.name in (b"elif", b"else") and stack:
                group, branch, seen = stack.pop()
                stack.append((group, branch + 1, [*seen, _text(directive)]))
            elif directive.name == b"endif" and stack:
                stack.pop()
            else:
                continue
            self._arms.append(
                Arm(
                    directive.end,
                    tuple(_condition(seen) for number, _, seen in stack if guard is None or number),
                    tuple(group for group, _, _ in stack),
                    tuple(branch for _, branch, _ in stack),
                )
            )
        self._starts = [arm.start for arm in self._arms]

    def __len__(self) -> int:
        return len(self._arms)

    def __iter__(self) -> Iterator[Arm]:
        return iter(self._arms)

    @property
    def most_arms(self) -> int:
        """How many arms the #if group has that has the most."""
        return max((arm.branch[-1] + 1 for arm in self._arms if arm.branch), default=0)

    def index(self, offset: int) -> int:
        """Number of the arm that holds an offset."""
        return bisect_right(self._starts, offset) - 1

    def arm(self, offset: int) -> Arm:
        """The arm that holds an offset."""
        return self._arms[self.index(offset)]

    def end(self, offset: int, size: int) -> int:
        """Where the arm that holds an offset ends, in a file of `size` bytes."""
        following = self.index(offset) + 1
        return self._starts[following] if following < len(self._starts) else size


def condition_of(directive: Directive) -> str:
    """What an #if, #ifdef or #ifndef asks, without parentheses around all of it."""
    text = _text(directive) if directive.name in OPENING else ""
    while text.startswith("( ") and text.endswith(" )") and ") " not in text[:-1]:
        text = text[2:-2]
    return text


def _text(directive: Directive) -> str:
    words = b" ".join(token.text for token in directive.tokens).decode("latin-1")
    if directive.name == b"ifdef":
        return f"defined({words})"
    if directive.name == b"ifndef":
        return f"!defined({words})"
    return words


def _condition(seen: list[str]) -> str:
    """The condition of the last of the arms seen: the earlier ones are false there."""
    earlier = [f"!({text})" for text in seen[:-1]]
    last = [seen[-1]] if seen[-1] else []
    return " && ".join(earlier + last)


def include_guard(lexed: LexedSource) -> Directive | None:
    """The #define of a guard `#ifndef X / #define X` that stands before any code and whose #endif
    ends the file; without that it is what a macro is where nobody gave it."""
    directives, tokens = lexed.directives, lexed.tokens
    if len(directives) < 2 or directives[0].name != b"ifndef" or directives[1].name != b"define":
        return None
    if not directives[0].subject or directives[0].subject != directives[1].subject:
        return None
    if tokens and tokens[0].start < directives[1].start:
        return None
    depth = 0
    for number, directive in enumerate(directives):
        depth += (directive.name in OPENING) - (directive.name == b"endif")
        if not depth:
            is_last = number == len(directives) - 1
            after = tokens and tokens[-1].start > directive.start
            return None if after or not is_last else directives[1]
    return directives[1]
