"""What an #if condition is worth where only some macros are known: true, false or not certain.

Numbers are intmax_t or uintmax_t, of 64 bits (C17 6.10.1): `-1 > 0u` holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from porter.source.arithmetic import binary, integer, literal, unary
from porter.source.c_lexer import Token, lex_fragment
from porter.source.token_tools import matching
from porter.source.values import Number

_LEVELS: tuple[frozenset[bytes], ...] = (
    frozenset({b"||"}), frozenset({b"&&"}), frozenset({b"|"}), frozenset({b"^"}),
    frozenset({b"&"}), frozenset({b"==", b"!="}), frozenset({b"<", b">", b"<=", b">="}),
    frozenset({b"<<", b">>"}), frozenset({b"+", b"-"}), frozenset({b"*", b"/", b"%"}),
)  # fmt: skip
_DEEPEST = 50
_WIDEST = 8  # bytes

IsDefined = Callable[[bytes], bool | None]
"""Whether a macro is defined; None if that isn't certain."""
ValueOf = Callable[[bytes], Number | None]
"""What a name is worth in a condition; None if that isn't certain."""
HasInclude = Callable[[bytes], bool | None]
"""Whether a header, with its quotes or brackets, is there."""


def condition_value(
    condition: str, is_defined: IsDefined, value_of: ValueOf, has_include: HasInclude
) -> bool | None:
    """Whether a condition holds; None if it can't be told, or can't be read."""
    tokens = lex_fragment(condition.encode("latin-1", "replace"))
    parser = _Parser(tokens, is_defined, value_of, has_include)
    try:
        value = parser.conditional()
    except _Unreadable:
        return None
    if parser.position != len(tokens):
        return None
    return None if value is None else value.value != 0


def condition_literal(text: bytes) -> Number | None:
    """A number as a condition has it: without a sign if it says so, or is too large for one."""
    number = literal(text)
    if number is None:
        return None
    is_unsigned = b"u" in text.lower() or number.value >> (8 * _WIDEST - 1) != 0
    return Number(number.value, is_unsigned, _WIDEST)


class _Unreadable(Exception):
    """No condition."""


class _Parser:
    """Recursive descent; a value that isn't certain is None."""

    def __init__(
        self,
        tokens: Sequence[Token],
        is_defined: IsDefined,
        value_of: ValueOf,
        has_include: HasInclude,
    ) -> None:
        self._tokens = tokens
        self._is_defined = is_defined
        self._value_of = value_of
        self._has_include = has_include
        self.position = 0
        self._depth = 0

    def conditional(self) -> Number | None:
        """`a ? b : c`, or what binds closer."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise _Unreadable
        value = self._binary(0)
        if self._accept(b"?"):
            first = self.conditional()
            if not self._accept(b":"):
                raise _Unreadable
            second = self.conditional()
            value = _chosen(value, first, second)
        self._depth -= 1
        return value

    def _binary(self, level: int) -> Number | None:
        if level == len(_LEVELS):
            return self._unary()
        value = self._binary(level + 1)
        while (token := self._peek()) in _LEVELS[level]:
            self.position += 1
            value = _joined(token, value, self._binary(level + 1))
        return value

    def _unary(self) -> Number | None:
        token = self._next()
        if token.text in (b"!", b"-", b"+", b"~"):
            value = self._unary()
            return None if value is None else _wide(unary(token.text, value))
        if token.text == b"(":
            value = self.conditional()
            if not self._accept(b")"):
                raise _Unreadable
            return value
        if token.kind == "number":
            return condition_literal(token.text)
        if token.kind == "identifier":
            return self._name(token)
        if token.kind == "char":
            return None
        raise _Unreadable

    def _name(self, token: Token) -> Number | None:
        if token.text == b"defined":
            in_parentheses = self._accept(b"(")
            name = self._next()
            if name.kind != "identifier" or (in_parentheses and not self._accept(b")")):
                raise _Unreadable
            found = self._is_defined(name.text)
            return _truth(found)
        if self._peek() != b"(":
            return self._value_of(token.text)
        closing = matching(self._tokens, self.position)
        if closing is None:
            raise _Unreadable
        written = b"".join(it.text for it in self._tokens[self.position + 1 : closing])
        self.position = closing + 1
        if token.text in (b"__has_include", b"__has_include_next"):
            there = self._has_include(written)
            return _truth(there)
        return None

    def _peek(self) -> bytes:
        return self._tokens[self.position].text if self.position < len(self._tokens) else b""

    def _accept(self, text: bytes) -> bool:
        if self._peek() != text:
            return False
        self.position += 1
        return True

    def _next(self) -> Token:
        if self.position >= len(self._tokens):
            raise _Unreadable
        self.position += 1
        return self._tokens[self.position - 1]


def _joined(sign: bytes, left: Number | None, right: Number | None) -> Number | None:
    known = [it.value for it in (left, right) if it is not None]
    if sign == b"&&" and 0 in known:
        return _truth(False)
    if sign == b"||" and any(known):
        return _truth(True)
    if left is None or right is None:  # 0 times it, too, may be a number without a sign
        return None
    return _wide(binary(sign, left, right))


def _chosen(value: Number | None, first: Number | None, second: Number | None) -> Number | None:
    """What is behind the question mark: of the type that both have in common."""
    if first is None or second is None or (value is None and first != second):
        return None
    found = first if value is None or value.value else second
    return integer(found.value, first.is_unsigned or second.is_unsigned, _WIDEST)


def _wide(number: Number | None) -> Number | None:
    return None if number is None else Number(number.value, number.is_unsigned, _WIDEST)


def _truth(holds: bool | None) -> Number | None:
    return None if holds is None else Number(int(holds), False, _WIDEST)
