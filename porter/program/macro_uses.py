"""Where function-like macros are used in a project, and with which constants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from porter.program.c_text import CText
from porter.source.c_lexer import Token
from porter.source.evaluate import Evaluator
from porter.source.macros import parse_define
from porter.source.token_tools import matching, split_arguments
from porter.source.values import Number

_MASK = 0xFFFF_FFFF


@dataclass(frozen=True, eq=False)
class MacroUse:
    """A call at [start, end) of a file; `arguments` that are no constants are None."""

    text: CText
    start: int
    end: int
    arguments: tuple[int | None, ...]

    @property
    def lines(self) -> tuple[int, int]:
        """First and last line of the call."""
        return self.text.file.line(self.start), self.text.file.line(self.end - 1)


def calls_in(text: CText) -> Iterator[tuple[bytes, MacroUse]]:
    """Names of function-like macros with their uses, in the code and in bodies of other macros."""
    yield from _calls(text, text.lexed.tokens)
    macros = text.evaluator.macros

    def is_taker(word: bytes) -> bool:
        known = macros.get(word)
        return known is not None and known.parameters is not None

    for directive in text.lexed.directives:
        macro = parse_define(directive)
        if macro is not None and any(is_taker(word) for word in macro.called):
            yield from _calls(text, macro.body)


def named_in(text: CText, name: bytes) -> Iterator[MacroUse]:
    """Where the code has a macro's name, whatever kind of macro it is."""
    for token in [it for it in text.lexed.tokens if it.text == name]:
        yield MacroUse(text, token.start, token.end, ())


def macros_with(texts: Iterable[CText]) -> dict[bytes, list[bytes]]:
    """For each name in the body of a macro the macros that have it."""
    found: dict[bytes, dict[bytes, None]] = {}
    for text in texts:
        for macro in filter(None, map(parse_define, text.lexed.directives)):
            for word in macro.words:
                found.setdefault(word, {})[macro.name] = None
    return {name: list(macros) for name, macros in found.items()}


def _calls(text: CText, tokens: Sequence[Token]) -> Iterator[tuple[bytes, MacroUse]]:
    evaluator = text.evaluator
    for index in range(len(tokens) - 1):
        token = tokens[index]
        if token.kind != "identifier" or tokens[index + 1].text != b"(":
            continue
        macro = evaluator.macros.get(token.text)
        if macro is None or macro.parameters is None:
            continue
        closing = matching(tokens, index + 1)
        if closing is None:
            yield token.text, MacroUse(text, token.start, token.end, ())
            continue
        arguments = tuple(
            _constant(part, evaluator) for part in split_arguments(tokens[index + 2 : closing])
        )
        yield token.text, MacroUse(text, token.start, tokens[closing].end, arguments)


def _constant(part: Sequence[Token], evaluator: Evaluator) -> int | None:
    value = evaluator.text(b" ".join(token.text for token in part)) if part else None
    return value.value & _MASK if isinstance(value, Number) else None
