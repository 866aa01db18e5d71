"""Integers of C on 32-bit machines: the types of constants, conversions, overflow.

What the standard leaves undefined is taken as GCC does it: signed numbers wrap around, a signed
number shifted right keeps its sign, plain char is unsigned.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping

from porter.source.c_lexer import Token
from porter.source.c_strings import decode_strings
from porter.source.c_types import CType
from porter.source.values import Number

_INT = 4
_LONGEST = 8
_LITERAL = re.compile(rb"(0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)([uUlL]*)")

_COMPUTE: Mapping[bytes, Callable[[int, int], int]] = {
    b"+": operator.add,
    b"-": operator.sub,
    b"*": operator.mul,
    b"&": operator.and_,
    b"|": operator.or_,
    b"^": operator.xor,
}
_COMPARE: Mapping[bytes, Callable[[int, int], bool]] = {
    b"<": operator.lt,
    b">": operator.gt,
    b"<=": operator.le,
    b">=": operator.ge,
    b"==": operator.eq,
    b"!=": operator.ne,
}


def integer(value: int, is_unsigned: bool = False, size: int = _INT) -> Number:
    """A number as an object of that type holds it."""
    bits = 8 * size
    value &= (1 << bits) - 1
    if not is_unsigned and value >> (bits - 1):
        value -= 1 << bits
    return Number(value, is_unsigned, size)


def word(value: int) -> Number:
    """A number as a register or an address: 32 bits without a sign."""
    return integer(value, is_unsigned=True)


def literal(text: bytes) -> Number | None:
    """An integer constant, of the first type that has room for it (C17 6.4.4.1)."""
    match = _LITERAL.fullmatch(text.replace(b"'", b""))
    if match is None:
        return None
    digits, suffix = match.group(1).lower(), match.group(2).lower()
    is_decimal = not digits.startswith(b"0")
    try:
        is_octal = digits.isdigit() and not is_decimal
        value = int(digits, 8) if is_octal else int(digits, 0)
    except ValueError:
        return None
    for size in (_INT, _LONGEST) if b"ll" not in suffix else (_LONGEST,):
        if b"u" not in suffix and value >> (8 * size - 1) == 0:
            return Number(value, False, size)
        if (b"u" in suffix or not is_decimal) and value >> (8 * size) == 0:
            return Number(value, True, size)
    return None


def character(text: bytes) -> Number | None:
    """A constant of one character."""
    decoded = decode_strings([Token("string", 0, len(text), b'"' + text[1:-1] + b'"')]).text
    return Number(decoded[0]) if text.startswith(b"'") and len(decoded) == 1 else None


def converted(number: Number, kind: CType) -> Number:
    """A number as an object of a type holds it; unchanged where the type isn't an integer's."""
    if kind.kind != "scalar" or not kind.is_integer:
        return number
    return integer(number.value, kind.is_unsigned, kind.size)


def unary(sign: bytes, operand: Number) -> Number | None:
    """The value of `sign operand`; None for another operator."""
    number = _promoted(operand)
    if sign == b"!":
        return Number(int(not number.value))
    values = {b"-": -number.value, b"+": number.value, b"~": ~number.value}
    return integer(values[sign], number.is_unsigned, number.size) if sign in values else None


def binary(sign: bytes, left: Number, right: Number) -> Number | None:
    """The value of `left sign right`; None where C gives it none."""
    if sign in (b"&&", b"||"):
        truths = bool(left.value), bool(right.value)
        return Number(int(all(truths) if sign == b"&&" else any(truths)))
    left, right = _promoted(left), _promoted(right)
    if sign in (b"<<", b">>"):
        return _shifted(sign, left, right.value)
    size = max(left.size, right.size)
    is_unsigned = any(it.is_unsigned and it.size == size for it in (left, right))
    one, other = (integer(it.value, is_unsigned, size).value for it in (left, right))
    if sign in _COMPARE:
        return Number(int(_COMPARE[sign](one, other)))
    if sign in _COMPUTE:
        return integer(_COMPUTE[sign](one, other), is_unsigned, size)
    if sign in (b"/", b"%") and other != 0:
        quotient = abs(one) // abs(other) * (1 if (one < 0) == (other < 0) else -1)
        found = quotient if sign == b"/" else one - quotient * other
        return integer(found, is_unsigned, size)
    return None


def _shifted(sign: bytes, left: Number, count: int) -> Number | None:
    if not 0 <= count < 8 * left.size:
        return None
    value = left.value << count if sign == b"<<" else left.value >> count
    return integer(value, left.is_unsigned, left.size)


def _promoted(number: Number) -> Number:
    return number if number.size >= _INT else Number(number.value)
