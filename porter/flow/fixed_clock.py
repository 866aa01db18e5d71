"""How fast the old chip's core ran, where the project says so and never changes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from porter.program.c_text import CText
from porter.sites.context import function_name
from porter.source.c_lexer import Token
from porter.source.values import Number

VARIABLE = b"SystemCoreClock"
_ASSIGNS = frozenset({b"=", b"+=", b"-=", b"*=", b"/=", b"<<=", b">>="})
_OSCILLATOR = 16_000_000


def fixed_clock(texts: Iterable[CText], why_not: Callable[[str], str | None]) -> int | None:
    """What SystemCoreClock begins with, if no function that takes part assigns to it.

    Where one does, the first value is that of an oscillator before the clocks are set up; so it may
    be where it is no more than what oscillators have.
    """
    begins: set[int | None] = set()
    for text in texts:
        if VARIABLE not in text.file.data:
            continue
        tokens = text.lexed.tokens
        for index, token in enumerate(tokens[:-2]):
            if token.text != VARIABLE or tokens[index + 1].text not in _ASSIGNS:
                continue
            function = text.trees.function_at(token.start, token.end)
            if function is None:
                begins.add(_begins(text, tokens[index + 2 :]))
            elif why_not(function_name(function[1])) is None:
                return None
    clock = begins.pop() if len(begins) == 1 else None
    return clock if clock is not None and clock > _OSCILLATOR else None


def _begins(text: CText, tokens: Sequence[Token]) -> int | None:
    """The number up to the end of a declaration."""
    value: list[bytes] = []
    for token in tokens:
        if token.text in (b";", b","):
            break
        value.append(token.text)
    number = text.evaluator.text(b" ".join(value))
    return number.value if isinstance(number, Number) else None
