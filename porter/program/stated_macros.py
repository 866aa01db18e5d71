"""Macros that are a statement wherever the project uses them: nobody asks for their value, so
what they do may become a call that returns none, or go altogether."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from porter.program.c_text import CText
from porter.program.macro_uses import MacroUse
from porter.source.c_lexer import Token
from porter.source.macros import Macro, parse_define
from porter.source.token_tools import matching

_BEFORE = frozenset({b";", b"{", b"}"})
Span = tuple[CText, int, int]
"""A use at [start, end) of a file."""


class StatedMacros:
    """Answers by name. `calls`: uses of function-like macros; `texts`: the files of the build;
    `is_compiled` whether the build has a use."""

    def __init__(
        self,
        calls: Callable[[bytes], Iterable[MacroUse]],
        texts: Callable[[], Iterable[CText]],
        is_compiled: Callable[[CText, int, int], bool],
    ) -> None:
        self._calls = calls
        self._texts = texts
        self._is_compiled = is_compiled
        self.holds = cache(self._holds)

    def _holds(self, name: bytes) -> bool:
        """Whether the project uses a macro, as a statement each time."""
        pending, seen, used = [name], {name}, False
        while pending:
            for text, start, end in self._uses(pending.pop()):
                used = True
                around = _macro_around(text, start)
                if around is None:
                    if not _is_statement(text, start, end):
                        return False
                elif not _is_whole(around, start, end):
                    if not _is_between(around.body, start, end):
                        return False
                elif around.name not in seen:
                    seen.add(around.name)
                    pending.append(around.name)
        return used

    def _uses(self, name: bytes) -> Iterator[Span]:
        for use in self._calls(name):
            yield use.text, use.start, use.end
        for text in self._texts():
            macro = text.evaluator.macros.get(name)
            if macro is None or macro.parameters is not None or name not in text.file.data:
                continue
            for token in _tokens_of(text, name):
                if self._is_compiled(text, token.start, token.end):
                    yield text, token.start, token.end


def _tokens_of(text: CText, name: bytes) -> list[Token]:
    """Where a name stands in the code of a file and in the bodies of its macros."""
    found = [token for token in text.lexed.tokens if token.text == name]
    for directive in text.lexed.directives:
        macro = parse_define(directive)
        if macro is not None and name in macro.text:
            found += (token for token in macro.body if token.text == name)
    return found


def _macro_around(text: CText, start: int) -> Macro | None:
    directives = text.lexed.directives
    index = bisect_left(directives, start, key=lambda it: it.end)
    if index < len(directives) and directives[index].start <= start:
        return parse_define(directives[index])
    return None


def _is_statement(text: CText, start: int, end: int) -> bool:
    """Whether a use in code is all of a statement."""
    found = text.trees.clean_at(start, end)
    node = found[1] if found is not None else None
    return (
        node is not None
        and node.parent is not None
        and (node.parent.type == "expression_statement")
    )


def _is_whole(macro: Macro, start: int, end: int) -> bool:
    """Whether a use is all of another macro's body, in parentheses or not."""
    tokens = macro.body
    while tokens and tokens[0].text == b"(" and matching(tokens, 0) == len(tokens) - 1:
        tokens = tokens[1:-1]
    return bool(tokens) and tokens[0].start == start and tokens[-1].end == end


def _is_between(tokens: Sequence[Token], start: int, end: int) -> bool:
    """Whether a use is a statement among those of another macro's body."""
    first = bisect_left(tokens, start, key=lambda token: token.start)
    behind = bisect_left(tokens, end, key=lambda token: token.start)
    before = tokens[first - 1].text if first else b";"
    after = tokens[behind].text if behind < len(tokens) else b";"
    return before in _BEFORE and after == b";"
