"""The flags as far as they are known: the set of the states that they may be in."""

from __future__ import annotations

from collections.abc import Callable

from composer.verify.code.values import (
    WORD,
    Outer,
    Range,
    Stack,
    Value,
    known_difference,
    limits,
    signed,
)

Flags = int
"""A bit for each of the sixteen states of N, Z, C and V: number 8n + 4z + 2c + v."""


def _where(test: Callable[[bool, bool, bool, bool], bool]) -> Flags:
    return sum(
        1 << state
        for state in range(16)
        if test(bool(state & 8), bool(state & 4), bool(state & 2), bool(state & 1))
    )


ANY: Flags = 0xFFFF
_N, _Z = _where(lambda n, z, c, v: n), _where(lambda n, z, c, v: z)
_C, _V = _where(lambda n, z, c, v: c), _where(lambda n, z, c, v: v)
_GE = _where(lambda n, z, c, v: n == v)
_HI, _GT = _C & ~_Z, _GE & ~_Z
CONDITIONS: dict[str, Flags] = {
    "eq": _Z, "ne": ANY & ~_Z, "cs": _C, "cc": ANY & ~_C, "mi": _N, "pl": ANY & ~_N,
    "vs": _V, "vc": ANY & ~_V, "hi": _HI, "ls": ANY & ~_HI,
    "ge": _GE, "lt": ANY & ~_GE, "gt": _GT, "le": ANY & ~_GT,
}  # fmt: skip
_DIFFERENCES = _where(lambda n, z, c, v: not z or (c and not n and not v))
_RESULTS = _where(lambda n, z, c, v: not (n and z))

# condition -> the opposite one, and the one of a comparison the other way round
OPPOSITE = {
    "eq": "ne", "ne": "eq", "cs": "cc", "cc": "cs", "mi": "pl", "pl": "mi", "vs": "vc", "vc": "vs",
    "hi": "ls", "ls": "hi", "ge": "lt", "lt": "ge", "gt": "le", "le": "gt",
}  # fmt: skip
MIRRORED = {
    "eq": "eq", "ne": "ne", "cs": "ls", "ls": "cs", "cc": "hi", "hi": "cc",
    "ge": "le", "le": "ge", "lt": "gt", "gt": "lt",
}  # fmt: skip


def holds(condition: str, flags: Flags) -> bool | None:
    """Whether a condition is met; None when that isn't known."""
    met = flags & CONDITIONS[condition]
    return None if met and met != flags else bool(met)


def _exactly(result: int, carry: bool, overflow: bool) -> Flags:
    return 1 << ((result >> 31) * 8 + (result == 0) * 4 + carry * 2 + overflow)


def _only(flags: Flags, of: Flags, known: bool | None) -> Flags:
    """Those in which a flag is as it is known to be."""
    return flags if known is None else flags & (of if known else ~of)


def compared(a: Value, b: Value) -> Flags:
    """Flags of a - b."""
    if isinstance(a, int) and isinstance(b, int):
        result = (a - b) & WORD
        return _exactly(result, a >= b, signed(a) - signed(b) != signed(result))
    apart = known_difference(a, b)
    if apart is not None:
        exact = _exactly(apart & WORD, apart >= 0, False)
        if isinstance(a, Stack | Outer | Range):
            return exact  # without overflow: stacks lie in the lower half of the addresses
        return _only(_only(_DIFFERENCES, _N, apart & 1 << 31 != 0), _Z, apart == 0)
    one, other = limits(a), limits(b)
    if one is None or other is None:
        return _DIFFERENCES
    carry = True if one[0] >= other[1] else False if one[1] < other[0] else None
    flags = _only(_DIFFERENCES, _C, carry)
    if one[1] < other[0] or other[1] < one[0]:
        flags &= ~_Z
    if one[1] >> 31 == 0 and other[1] >> 31 == 0:
        flags &= ~_V & (_N ^ _C)  # as signed numbers they compare alike
    return flags


def added(a: Value, b: Value) -> Flags:
    """Flags of a + b."""
    if isinstance(a, int) and isinstance(b, int):
        result = (a + b) & WORD
        return _exactly(result, a + b > WORD, signed(a) + signed(b) != signed(result))
    return _RESULTS


def tested(value: Value) -> Flags:
    """Flags of a result; C and V are unknown."""
    if isinstance(value, int):
        return _only(_only(ANY, _N, bool(value >> 31)), _Z, value == 0)
    if isinstance(value, Range):
        negative = False if value.high >> 31 == 0 else True if value.low >> 31 else None
        return _only(_only(_RESULTS, _N, negative), _Z, False if value.low else None)
    return _RESULTS
