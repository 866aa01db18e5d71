"""Values of registers and memory as far as they are known.

A value is a number (32 bits), one of the classes below, or None: it can be anything.

What isn't known can still be known to be the same: `born` is the instruction that a value came
from, the last time it was run. In one state all values with one `born` are that value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd

WORD = 0xFFFFFFFF
_TABLE = 4096


@dataclass(frozen=True)
class Entry:
    """What a register held when the function was entered."""

    register: int


@dataclass(frozen=True)
class Stack:
    """The stack pointer at entry, plus an offset."""

    offset: int


@dataclass(frozen=True)
class Outer:
    """An address in a caller's stack frame; `place` is what the caller knows of it."""

    place: Stack | Outer
    offset: int = 0


@dataclass(frozen=True)
class Range:
    """A number from low to high, by `step`; `moved`: what was added to it since it was born;
    `part_of`: it is some bits of the word that was read there."""

    low: int
    high: int
    step: int = 1
    born: int | None = None
    moved: int = 0
    part_of: int | None = None


@dataclass(frozen=True)
class Word:
    """A word that was read from memory at `root`, moved by some bytes: a pointer, usually.

    Where it points is not known, only who keeps it, and not even that when `root` is None. `moved`
    is None when it isn't known how far. `through`: read through another pointer from there.
    """

    root: Value
    moved: int | None = 0
    born: int | None = None
    through: bool = False

    def by(self, offset: int) -> Value:
        """Moved."""
        moved = None if self.moved is None else self.moved + offset
        if moved is None or abs(moved) >= _TABLE:
            return self.somewhere()
        return replace(self, moved=moved)

    def somewhere(self) -> Value:
        """Moved nobody knows how far."""
        return None if self.root is None else Word(self.root, None, None, self.through)


Value = int | Entry | Stack | Outer | Range | Word | None


def signed(number: int) -> int:
    """A 32-bit number as two's complement."""
    return number - (1 << 32) if number & 0x80000000 else number


def limits(value: Value) -> tuple[int, int] | None:
    """Least and greatest number that a value can be, None for addresses and the unknown."""
    if isinstance(value, int):
        return value, value
    if isinstance(value, Range):
        return value.low, value.high
    return None


def is_named(value: Value) -> bool:
    """Whether the value, if it isn't known, is known to be the same elsewhere."""
    if isinstance(value, Range | Word):
        return value.born is not None
    return value is not None


def born_at(value: Value, born: int | None) -> Value:
    """The value with another birth; a known one needs none."""
    if value is None:
        return None if born is None else Word(None, 0, born)
    if isinstance(value, Word) and born is None and value.root is None:
        return None
    return replace(value, born=born) if isinstance(value, Range | Word) else value


def known_difference(a: Value, b: Value) -> int | None:
    """Bytes from b to a when both are places of one object, or one and the same value."""
    if isinstance(a, Stack) and isinstance(b, Stack):
        return a.offset - b.offset
    if isinstance(a, Outer) and isinstance(b, Outer) and a.place == b.place:
        return a.offset - b.offset
    if isinstance(a, Range | Word) and isinstance(b, Range | Word):
        if a.born is not None and a.born == b.born and None not in (a.moved, b.moved):
            return (a.moved or 0) - (b.moved or 0)
        return None
    return 0 if isinstance(a, Entry) and a == b else None


def ranged(low: int, high: int, step: int = 1) -> Value:
    """A range, a number when it is one, None when it would wrap."""
    if low < 0 or high > WORD or low > high:
        return None
    return low if low == high else Range(low, high, step)


def scaled(value: Range, factor: int) -> Value:
    """A range times a number."""
    return ranged(value.low * factor, value.high * factor, value.step * factor) if factor else 0


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
            return _moved(a, signed(b)) or _moved(a, b)
    if isinstance(a, Range) and isinstance(b, Range):
        return ranged(a.low + b.low, a.high + b.high, gcd(a.step, b.step))
    if isinstance(a, Word) and isinstance(b, Range) and b.high < _TABLE:
        return a.somewhere()  # an element of what it points to
    if isinstance(b, Word) and isinstance(a, Range) and a.high < _TABLE:
        return b.somewhere()
    return None


def _moved(value: Range, by: int) -> Value:
    result = ranged(value.low + by, value.high + by, value.step)
    if isinstance(result, Range) and value.born is not None:
        return replace(result, born=value.born, moved=value.moved + by)
    return result


def subtract(a: Value, b: Value) -> Value:
    """Difference."""
    if isinstance(b, int):
        return add(a, -b & WORD)
    apart = known_difference(a, b)
    if apart is not None:
        return apart & WORD
    if isinstance(a, int) and isinstance(b, Range):
        return ranged(a - b.high, a - b.low) if b.step == 1 else None
    return None


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
        return value.low & (value.step & -value.step) - 1, value.step & -value.step
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


def united(a: Value, b: Value) -> Value:
    """What is known of a value that is one of two."""
    if a == b:
        return a
    one, other = limits(a), limits(b)
    if one is not None and other is not None:
        low, high = min(one[0], other[0]), max(one[1], other[1])
        if (low, high) == (0, WORD):
            return None
        ranges = [value for value in (a, b) if isinstance(value, Range)]
        whole = Range(low, high, gcd(one[0] - other[0], *(value.step for value in ranges)))
        births = {(value.born, value.moved) for value in ranges}
        if len(ranges) < 2 or len(births) > 1:
            return whole
        return replace(whole, born=ranges[0].born, moved=ranges[0].moved)
    return common(a, b)


def common(a: Value, b: Value) -> Value:
    """What is known of both; less each time that it is asked, so that loops come to an end."""
    if a == b:
        return a
    if isinstance(a, Word) and isinstance(b, Word) and a.root == b.root:
        both = Word(a.root, None, None, a.through or b.through)
        if a.moved == b.moved and a.through == b.through:
            both = replace(a, born=None)
        return both.somewhere() if both.root is None else both
    if isinstance(a, Range) and isinstance(b, Range) and (a.low, a.high) == (b.low, b.high):
        part_of = a.part_of if a.part_of == b.part_of else None
        return Range(a.low, a.high, gcd(a.step, b.step), part_of=part_of)
    return None


def word_at(place: Value) -> Value:
    """What a load from writable memory gives: only where it came from is known."""
    if isinstance(place, Word):
        return Word(place.root, 0, None, through=True)
    return Word(Range(place.low, place.high, place.step) if isinstance(place, Range) else place)
