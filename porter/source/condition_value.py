"""What an #if condition is worth where only some macros are known: true, false or not certain."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from porter.source.arithmetic import literal
from porter.source.c_lexer import Token, lex_fragment
from porter.source.token_tools import matching

_LEVELS: tuple[frozenset[bytes], ...] = (
    frozenset({b"||"}), frozenset({b"&&"}), frozenset({b"|"}), frozenset({b"^"}),
    frozenset({b"&"}), frozenset({b"==", b"!="}), frozenset({b"<", b">", b"<=", b">="}),
    frozenset({b"<<", b">>"}), frozenset({b"+", b"-"}), frozenset({b"*", b"/", b"%"}),
)  # fmt: skip
_DEEPEST = 50

IsDefined = Callable[[bytes], bool | None]
"""Whether a macro is defined; None if that isn't certain."""
ValueOf = Callable[[bytes], int | None]
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
    return None if value is None else value != 0


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

    def conditional(self) -> int | None:
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
            value = (first if first == second else None) if value is None else (
                first if value else second)  # fmt: skip
        self._depth -= 1
        return value

    def _binary(self, level: int) -> int | None:
        if level == len(_LEVELS):
            return self._unary()
        value = self._binary(level + 1)
        while (token := self._peek()) in _LEVELS[level]:
            self.position += 1
            value = _joined(token, value, self._binary(level + 1))
        return value

    def _unary(self) -> int | None:
        token = self._next()
        if token.text in (b"!", b"-", b"+", b"~"):
            value = self._unary()
            if value is None:
                return None
            return {b"!": int(not value), b"-": -value, b"~": ~value}.get(token.text, value)
        if token.text == b"(":
            value = self.conditional()
            if not self._accept(b")"):
                raise _Unreadable
            return value
        if token.kind == "number":
            number = literal(token.text)
            return None if number is None else number.value
        if token.kind == "identifier":
            return self._name(token)
        if token.kind == "char":
            return None
        raise _Unreadable

    def _name(self, token: Token) -> int | None:
        if token.text == b"defined":
            in_parentheses = self._accept(b"(")
            name = self._next()
            if name.kind != "identifier" or (in_parentheses and not self._accept(b")")):
                raise _Unreadable
            found = self._is_defined(name.text)
            return None if found is None else int(found)
        if self._peek() != b"(":
            return self._value_of(token.text)
        closing = matching(self._tokens, self.position)
        if closing is None:
            raise _Unreadable
        written = b"".join(it.text for it in self._tokens[self.position + 1 : closing])
        self.position = closing + 1
        if token.text in (b"__has_include", b"__has_include_next"):
            there = self._has_include(written)
            return None if there is None else int(there)
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


def _joined(sign: bytes, left: int | None, right: int | None) -> int | None:
    if sign == b"&&":
        if left == 0 or right == 0:
            return 0
        return None if left is None or right is None else 1
    if sign == b"||":
        if left or right:
            return 1
        return None if left is None or right is None else 0
    if left is None or right is None:
        return 0 if sign in (b"&", b"*") and 0 in (left, right) else None
    if (sign in (b"/", b"%") and right == 0) or (sign in (b"<<", b">>") and not 0 <= right < 64):
        return None
    return _CALCULATE[sign](left, right)


_CALCULATE: dict[bytes, Callable[[int, int], int]] = {
    b"|": lambda a, b: a | b, b"^": lambda a, b: a ^ b, b"&": lambda a, b: a & b,
    b"==": lambda a, b: int(a == b), b"!=": lambda a, b: int(a != b),
    b"<": lambda a, b: int(a < b), b">": lambda a, b: int(a > b),
    b"<=": lambda a, b: int(a <= b), b">=": lambda a, b: int(a >= b),
    b"<<": lambda a, b: a << b, b">>": lambda a, b: a >> b,
    b"+": lambda a, b: a + b, b"-": lambda a, b: a - b, b"*": lambda a, b: a * b,
    b"/": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    b"%": lambda a, b: a - b * (abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)),
}  # fmt: skip
