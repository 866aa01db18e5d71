"""Values of registers and memory as far as they are known.

A value is a number (32 bits), one of the classes below, or None: it can be anything.
"""

from __future__ import annotations

from dataclasses import dataclass

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
    """A number from low to high."""

    low: int
    high: int


@dataclass(frozen=True)
class Word:
    """A pointer that was read from memory at `root`, or through pointers from there, moved about.

    Where it points is not known, only who keeps it; `moved`: by how many bytes it was moved, None
    when that isn't known or it was read through another pointer.
    """

    root: Value
    moved: int | None = 0

    def by(self, offset: int) -> Word:
        """Moved."""
        moved = None if self.moved is None else self.moved + offset
        return Word(self.root, moved if moved is not None and abs(moved) < _TABLE else None)

    def somewhere(self) -> Word:
        """Moved nobody knows how far."""
        return Word(self.root, None)


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


def ranged(low: int, high: int) -> Value:
    """A range, a number when it is one, None when it would wrap."""
    if low < 0 or high > WORD or low > high:
        return None
    return low if low == high else Range(low, high)


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
            return ranged(a.low + signed(b), a.high + signed(b)) or ranged(a.low + b, a.high + b)
    if isinstance(a, Range) and isinstance(b, Range):
        return ranged(a.low + b.low, a.high + b.high)
    if isinstance(a, Word) and isinstance(b, Range) and b.high < _TABLE:
        return a.somewhere()  # an element of what it points to
    if isinstance(b, Word) and isinstance(a, Range) and a.high < _TABLE:
        return b.somewhere()
    return None


def subtract(a: Value, b: Value) -> Value:
    """Difference."""
    if isinstance(b, int):
        return add(a, -b & WORD)
    if isinstance(a, int) and isinstance(b, Range):
        return ranged(a - b.high, a - b.low)
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
    if isinstance(value, Range) and kind == "lsl" and by < 32:
        return ranged(value.low << by, value.high << by)
    if isinstance(value, Range) and kind == "lsr":
        return ranged(value.low >> by, value.high >> by)
    if kind == "lsr" and by < 32:
        return Range(0, WORD >> by)
    return None


def masked(a: Value, b: Value) -> Value:
    """Bitwise and."""
    if isinstance(a, int) and isinstance(b, int):
        return a & b
    if isinstance(a, int):
        a, b = b, a
    if isinstance(b, int):
        return ranged(0, b) if b else 0
    return None


def word_at(place: Value) -> Value:
    """What a load from writable memory gives: only where it came from is known."""
    if isinstance(place, Word):
        return place.somewhere()
    return None if place is None else Word(place)
