"""How fast the old chip's core ran, where the project says so by one constant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from porter.program.c_text import CText
from porter.program.calls import FunctionCall
from porter.sites.context import function_name
from porter.source.c_lexer import Token
from porter.source.c_tree import Node
from porter.source.declared import parameter_names
from porter.source.values import Number

VARIABLE = b"SystemCoreClock"
_ASSIGNS = frozenset({b"=", b"+=", b"-=", b"*=", b"/=", b"<<=", b">>="})
_OSCILLATOR = 16_000_000
CallsOf = Callable[[str], Sequence[FunctionCall] | None]
"""All calls of a function that may run; None if there may be others."""


def fixed_clock(
    texts: Iterable[CText], why_not: Callable[[str], str | None], calls_of: CallsOf
) -> int | None:
    """What SystemCoreClock begins with, or the one constant that functions which take part put
    there: `LL_SetSystemCoreClock(100000000)`.

    What it begins with is that of an oscillator before the clocks are set up where it is no more
    than what oscillators have; of two clocks that aren't, nobody knows which counts.
    """
    begins: set[int | None] = set()
    later: set[int | None] = set()
    for text in texts:
        if VARIABLE not in text.file.data:
            continue
        tokens = text.lexed.tokens
        for index, token in enumerate(tokens[:-2]):
            if token.text != VARIABLE or tokens[index + 1].text not in _ASSIGNS:
                continue
            function = text.trees.function_at(token.start, token.end)
            if function is None:
                begins.add(_number(text, _value(tokens[index + 2 :])))
            elif why_not(function_name(function[1])) is None:
                is_set = tokens[index + 1].text == b"="
                value = _value(tokens[index + 2 :])
                later |= set(_put(text, function[1], value, calls_of)) if is_set else {None}
    clocks = {it for it in begins | later if it is None or it > _OSCILLATOR}
    return clocks.pop() if len(clocks) == 1 else None


def _put(text: CText, function: Node, value: bytes, calls_of: CallsOf) -> Iterator[int | None]:
    """What a function assigns: a constant, or one that all its calls give it."""
    number, names = _number(text, value), parameter_names(function)
    calls = calls_of(function_name(function)) if number is None and value in names else None
    if calls is None:
        yield number
        return
    for call in calls:
        place = names.index(value)
        given = call.arguments[place] if place < len(call.arguments) else b""
        yield _number(call.text, given)


def _value(tokens: Sequence[Token]) -> bytes:
    """What is assigned, up to the end of the declaration or statement."""
    value: list[bytes] = []
    for token in tokens:
        if token.text in (b";", b","):
            break
        value.append(token.text)
    return b" ".join(value)


def _number(text: CText, value: bytes) -> int | None:
    number = text.evaluator.text(value)
    return number.value if isinstance(number, Number) else None
