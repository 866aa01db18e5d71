"""Sums, products, shifts and masks of values, and what follows for one from what another is."""

from __future__ import annotations

from dataclasses import replace
from math import gcd

from composer.verify.code.values import (
    NEAR,
    WORD,
    Outer,
    Range,
    Stack,
    Value,
    Word,
    form,
    known_difference,
    limits,
    ranged,
    same_birth,
    signed,
)

Base = tuple[int, int, int]
"""Least and greatest number that was born, and the step."""


def _base(value: Range) -> Base:
    return _bounds((value.low, value.high), value.factor, value.moved, value.step)


def _bounds(of: tuple[int, int], factor: int, moved: int, step: int = 1) -> Base:
    """What was born if `factor` times that plus `moved` is within bounds."""
    low, high = of if factor > 0 else (of[1], of[0])
    step = step // abs(factor) if step % factor == 0 else 1
    return -((moved - low) // factor), (high - moved) // factor, step


def _linear(born: int | None, factor: int, moved: int, base: Base) -> Value:
    if factor == 0:
        return moved & WORD
    low, high, step = base
    ends = sorted((factor * low + moved, factor * high + moved))
    value = ranged(ends[0], ends[1], step * abs(factor))
    if isinstance(value, Range) and born is not None:
        return replace(value, born=born, factor=factor, moved=moved)
    if value is None and factor == 1 and born is not None:
        return Word(None, moved, born)  # beyond 32 bits
    return value


def scaled(value: Range, factor: int) -> Value:
    """A range times a number."""
    return _linear(value.born, value.factor * factor, value.moved * factor, _base(value))


def add(a: Value, b: Value) -> Value:
    """Sum."""
    if isinstance(a, int) and isinstance(b, int):
        return (a + b) & WORD
    if isinstance(a, int):
        a, b = b, a
    if isinstance(b, int):
        if isinstance(a, Stack):
            return Stack(a.offset + signed(b))
        if isinstance(a, Outer):
            return Outer(a.place, a.offset + signed(b))
        if isinstance(a, Word):
            return a.by(signed(b))
        if isinstance(a, Range):
            return _moved(a, b)
    if isinstance(a, Range) and isinstance(b, Range):
        if same_birth(a, b):
            return _combined(a, b, 1)
        return ranged(a.low + b.low, a.high + b.high, gcd(a.step, b.step))
    if isinstance(a, Word) and isinstance(b, Range) and b.high < NEAR:
        return a.somewhere()  # an element of what it points to
    if isinstance(b, Word) and isinstance(a, Range) and a.high < NEAR:
        return b.somewhere()
    return None


def _moved(value: Range, by: int) -> Value:
    less = _linear(value.born, value.factor, value.moved + signed(by), _base(value))
    if less is None or isinstance(less, Word):
        more = _linear(value.born, value.factor, value.moved + by, _base(value))
        return less if more is None or isinstance(more, Word) else more
    return less


def _combined(a: Range, b: Range, times: int) -> Value:
    """a + times * b, of one birth."""
    (low, high, step), other = _base(a), _base(b)
    base = max(low, other[0]), min(high, other[1]), step
    if base[0] != low:
        base = base[0], base[1], 1
    return _linear(a.born, a.factor + times * b.factor, a.moved + times * b.moved, base)


def subtract(a: Value, b: Value) -> Value:
    """Difference."""
    if isinstance(b, int):
        return add(a, -b & WORD)
    apart = known_difference(a, b)
    if apart is not None:
        return apart & WORD
    if isinstance(a, Range) and isinstance(b, Range):
        if same_birth(a, b):
            return _combined(a, b, -1)
        return ranged(a.low - b.high, a.high - b.low, gcd(a.step, b.step))
    if isinstance(a, int) and isinstance(b, Range):
        return _linear(b.born, -b.factor, a - b.moved, _base(b))
    return None


def learnt(value: Value, old: Value, new: Value) -> Value:
    """A value of the birth of `old`, when that is known to be `new`."""
    if value == old:
        return new
    made, mine, bounds = form(old), form(value), limits(new)
    if made is None or mine is None or bounds is None or not same_birth(value, old):
        return value
    low, high, _ = _bounds(bounds, *made)
    if high < 0:
        low, high = low + WORD + 1, high + WORD + 1
    step = 1
    if isinstance(value, Range):
        first, last, step = _base(value)
        low, high = first + max(0, -((first - low) // step)) * step, min(last, high)
    elif isinstance(value, Word) and value.root is not None and low != high:
        return value  # where it came from is more
    if not 0 <= low <= high <= WORD:
        return value
    assert isinstance(value, Range | Word)
    known = _linear(value.born, *mine, (low, high, step))
    return value if known is None else known


def shifted(value: Value, by: int, kind: str) -> Value:
    """lsl, lsr, asr, ror by a constant."""
    if by == 0:
        return value
    if isinstance(value, int):
        if kind == "lsl":
            return value << by & WORD if by < 32 else 0
        if kind == "lsr":
            return value >> by if by < 32 else 0
        if kind == "asr":
            return signed(value) >> min(by, 31) & WORD
        by %= 32
        return (value >> by | value << (32 - by)) & WORD
    if kind == "lsl" and by < 32:
        ending = lowest_bits(value)
        if ending is not None and ending[1] << by & WORD == 0:
            return ending[0] << by & WORD
        return scaled(value, 1 << by) if isinstance(value, Range) else None
    if isinstance(value, Range) and kind == "lsr":
        return ranged(value.low >> by, value.high >> by)
    if kind == "lsr" and by < 32:
        return Range(0, WORD >> by)
    return None


def lowest_bits(value: Value) -> tuple[int, int] | None:
    """What the lowest bits are, and the bit above them: 4 when two are known."""
    if isinstance(value, Range):
        bit = value.step & -value.step
        return value.low & bit - 1, bit
    if isinstance(value, Stack | Outer):
        return value.offset & 3, 4  # the processor's stack pointers have no bits below
    return None


def masked(a: Value, b: Value) -> Value:
    """Bitwise and."""
    if isinstance(a, int) and isinstance(b, int):
        return a & b
    if isinstance(a, int):
        a, b = b, a
    bounds, ending = limits(a), lowest_bits(a)
    if isinstance(b, int):
        if ending is not None and b < ending[1]:
            return ending[0] & b
        if bounds is not None and b & b + 1 == 0 and bounds[1] <= b:
            return a
        whole = isinstance(a, Word) and a.moved == 0 and not a.through
        root = a.root if isinstance(a, Word) and whole else None
        high = b if bounds is None else min(b, bounds[1])
        return Range(0, high, part_of=root if isinstance(root, int) else None) if high else 0
    other = limits(b)
    known = [bound[1] for bound in (bounds, other) if bound is not None]
    return ranged(0, min(known)) if known else None
