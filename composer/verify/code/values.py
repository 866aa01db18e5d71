"""Values of registers and memory as far as they are known.

A value is a number (32 bits), one of the classes below, or None: it can be anything.

What isn't known can still be known to be the same: `born` is the instruction that a value came
from, the last time it was run. In one state all values with one `born` are that value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import gcd

WORD = 0xFFFFFFFF
NEAR = 4096  # bytes: what is so far from a pointer may be part of what it points to


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
    """A number from low to high, by `step`. It is `factor` times what was born, plus `moved`;
    `part_of`: it is some bits of the word that was read there."""

    low: int
    high: int
    step: int = 1
    born: int | None = None
    factor: int = 1
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
        if moved is None or abs(moved) >= NEAR:
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
    if isinstance(value, Range):
        return replace(value, born=born, factor=1, moved=0)
    return replace(value, born=born) if isinstance(value, Word) else value


def form(value: Value) -> tuple[int, int] | None:
    """Factor of what was born, and what was added, of a value that is named."""
    if isinstance(value, Range) and value.born is not None:
        return value.factor, value.moved
    if isinstance(value, Word) and value.born is not None and value.moved is not None:
        return 1, value.moved
    return None


def same_birth(a: Value, b: Value) -> bool:
    """Whether two values come from one."""
    return (
        isinstance(a, Range | Word)
        and isinstance(b, Range | Word)
        and a.born is not None
        and a.born == b.born
    )


def known_difference(a: Value, b: Value) -> int | None:
    """Bytes from b to a when both are places of one object, or one and the same value."""
    if isinstance(a, Stack) and isinstance(b, Stack):
        return a.offset - b.offset
    if isinstance(a, Outer) and isinstance(b, Outer) and a.place == b.place:
        return a.offset - b.offset
    one, other = form(a), form(b)
    if one and other and same_birth(a, b) and one[0] == other[0]:
        return one[1] - other[1]
    return 0 if isinstance(a, Entry) and a == b else None


def ranged(low: int, high: int, step: int = 1) -> Value:
    """A range, a number when it is one, None when it would wrap."""
    if low < 0 or high > WORD or low > high:
        return None
    return low if low == high else Range(low, high, step)


def like(value: Range, other: Range) -> Range:
    """With the birth of another one."""
    return replace(value, born=other.born, factor=other.factor, moved=other.moved)


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
        alike = len(ranges) == 2 and same_birth(a, b) and form(a) == form(b)
        return like(whole, ranges[0]) if alike else whole
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
