"""Numbers that assembler text has names for: `.equ RCC_CR, RCC + 4`, `RCC_CR EQU 0x40021000`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Set

from porter.source.comments import without_comments

_EQUATE = re.compile(
    rb"^[ \t]*(?:"
    rb"\.(?:equ|set|equiv)[ \t]+(?P<a>\w+)[ \t]*,(?P<b>[^\r\n]*)"
    rb"|(?P<c>\w+)[ \t]+(?:equ|set)[ \t]+(?P<d>[^\r\n]*)"
    rb"|(?P<e>[A-Za-z_]\w*)[ \t]*=(?P<f>[^=\r\n][^\r\n]*)"
    rb"|\#[ \t]*define[ \t]+(?P<g>\w+)[ \t]+(?P<h>[^\r\n]+)"
    rb")",
    re.IGNORECASE | re.MULTILINE,
)
_REMARK = re.compile(rb"[;@].*")
_WORD = re.compile(rb"(?<![\w.])[A-Za-z_]\w*")
_DEEPEST = 8
_LONGEST = 200  # characters of an expression: no address needs more

Calculate = Callable[[bytes], int | None]
"""The value of an expression of numbers and of names that C defines."""


def equated(text: bytes) -> dict[bytes, bytes]:
    """The names that a text gives to numbers, with what it says that they are."""
    found: dict[bytes, bytes] = {}
    for it in _EQUATE.finditer(without_comments(text)):
        value = it["b"] or it["d"] or it["f"] or it["h"] or b""
        found.setdefault(it["a"] or it["c"] or it["e"] or it["g"], _REMARK.sub(b"", value).strip())
    return found


class Equates:
    """The names of all texts: one file takes another's in. `calculate`: C's arithmetic, which is
    that of the assemblers for what addresses are written with."""

    def __init__(self, texts: Iterable[bytes], calculate: Calculate) -> None:
        self._calculate = calculate
        self._written: dict[bytes, bytes] = {}
        for text in texts:
            for name, value in equated(text).items():
                self._written.setdefault(name, value)
        self._values: dict[bytes, int | None] = {}

    @property
    def names(self) -> Set[bytes]:
        """All that some text makes a number of."""
        return self._written.keys()

    def value(self, expression: bytes) -> int | None:
        """The number that an operand is (`RCC_CR + 4`); None where something else is in it."""
        if expression not in self._values:
            self._values[expression] = self._calculate(self._spelt(expression, _DEEPEST))
        return self._values[expression]

    def _spelt(self, expression: bytes, depth: int) -> bytes:
        """The expression with numbers for names, as far as they are known."""
        if not depth or len(expression) > _LONGEST:
            return b""

        def put(name: re.Match[bytes]) -> bytes:
            inner = self._written.get(name[0])
            return name[0] if inner is None else b"(" + self._spelt(inner, depth - 1) + b")"

        return _WORD.sub(put, expression)
