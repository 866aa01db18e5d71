"""Values of a run: numbers, words of which only some bits are known, and pointers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from porter.source.c_types import UNKNOWN, CType

MASK = 0xFFFF_FFFF


@dataclass(frozen=True)
class Word:
    """32 bits of which those in `known` are known. Bits in `kept` are still what was read from the
    register at `source`: a write of the word to it leaves them alone."""

    value: int
    known: int
    kept: int = 0
    source: int | None = None


@dataclass(eq=False)
class Memory:
    """An object: values by byte offset. What is not in `cells` is 0 if `zero`, else unknown."""

    name: str
    cells: dict[int, Value] = field(default_factory=dict)
    zero: bool = False
    volatile: bool = False
    constant: bool = False
    local: bool = False


@dataclass(frozen=True)
class Pointer:
    """`memory` None: `offset` is an address of the chip. `offset` None: somewhere in `memory`."""

    memory: Memory | None
    offset: int | None
    type: CType = UNKNOWN


@dataclass(frozen=True)
class FunctionName:
    """A pointer to a function, as the translation unit number `unit` sees the name."""

    unit: int
    name: str


Value = int | Word | Pointer | FunctionName | None
"""None is a value that is not known."""


def as_word(value: Value) -> Word | None:
    """A number as a word; None for what has no bits."""
    if isinstance(value, Word):
        return value
    return Word(value & MASK, MASK) if isinstance(value, int) else None


def number(value: Value) -> int | None:
    """A value that is known altogether, as a number; a chip's address is one too."""
    if isinstance(value, Word):
        return value.value if value.known == MASK else None
    if isinstance(value, Pointer) and value.memory is None:
        return value.offset
    return value if isinstance(value, int) else None


def truth(value: Value) -> bool | None:
    """Whether a condition holds, None if that isn't known."""
    if isinstance(value, Word):
        if value.value & value.known:
            return True
        return False if value.known == MASK else None
    if isinstance(value, Pointer):
        return True if value.memory is not None else value.offset != 0
    if isinstance(value, FunctionName):
        return True
    return None if value is None else value != 0


def join(left: Value, right: Value) -> Value:
    """What is known when either may be the case."""
    if left == right:
        return left
    a, b = as_word(left), as_word(right)
    if a is None or b is None:
        return None
    known = a.known & b.known & ~(a.value ^ b.value)
    return Word(a.value & known, known) if known else None


def _simple(word: Word) -> Value:
    if word.kept:
        return word
    if word.known == MASK:
        return word.value
    return word if word.known else None


def _some(value: Value) -> Word | None:
    return Word(0, 0) if value is None else as_word(value)


def _source(a: Word, b: Word) -> int | None:
    return a.source if a.kept else b.source


def both(left: Value, right: Value) -> Value:
    """left & right."""
    if isinstance(left, int) and isinstance(right, int):
        return left & right
    a, b = _some(left), _some(right)
    if a is None or b is None:
        return None
    zeros = (a.known & ~a.value) | (b.known & ~b.value)
    known = (a.known & b.known) | zeros
    kept = (a.kept & b.known & b.value) | (b.kept & a.known & a.value)
    return _simple(Word(a.value & b.value & known, known & MASK, kept, _source(a, b)))


def either(left: Value, right: Value) -> Value:
    """left | right."""
    if isinstance(left, int) and isinstance(right, int):
        return left | right
    a, b = _some(left), _some(right)
    if a is None or b is None:
        return None
    ones = (a.known & a.value) | (b.known & b.value)
    known = (a.known & b.known) | ones
    kept = (a.kept & b.known & ~b.value) | (b.kept & a.known & ~a.value)
    return _simple(Word(ones, known, kept & MASK, _source(a, b)))


def exclusive(left: Value, right: Value) -> Value:
    """left ^ right."""
    if isinstance(left, int) and isinstance(right, int):
        return left ^ right
    a, b = as_word(left), as_word(right)
    if a is None or b is None:
        return None
    known = a.known & b.known
    kept = (a.kept & b.known & ~b.value) | (b.kept & a.known & ~a.value)
    return _simple(Word((a.value ^ b.value) & known, known, kept & MASK, _source(a, b)))


def inverted(value: Value) -> Value:
    """~value."""
    if isinstance(value, Word):
        return _simple(Word(~value.value & value.known & MASK, value.known))
    return ~value if isinstance(value, int) else None


def shifted(value: Value, by: Value, left: bool) -> Value:
    """value << by, value >> by."""
    count = number(by)
    if count is None or not 0 <= count < 64:
        return None
    if isinstance(value, int):
        if left:
            return value << count
        return (value & MASK if value < 0 else value) >> count
    word = as_word(value)
    if word is None:
        return None
    if left:
        known = (word.known << count | ((1 << count) - 1)) & MASK
        return _simple(Word(word.value << count & known, known))
    known = word.known >> count | (MASK & ~(MASK >> count))
    return _simple(Word((word.value & word.known) >> count, known))


def equal(left: Value, right: Value) -> bool | None:
    """left == right, None if that isn't known."""
    if isinstance(left, Pointer) and isinstance(right, Pointer):
        if left.memory is right.memory:
            known = left.offset is not None and right.offset is not None
            return left.offset == right.offset if known else None
        return False
    if isinstance(left, FunctionName) and isinstance(right, FunctionName):
        return left.name == right.name
    a, b = as_word(_flat(left)), as_word(_flat(right))
    if a is None or b is None:
        pointers = (Pointer, FunctionName)
        other = right if isinstance(left, pointers) else left
        one = isinstance(left, pointers) or isinstance(right, pointers)
        return False if one and other == 0 else None
    if (a.value ^ b.value) & a.known & b.known:
        return False
    return True if a.known == MASK == b.known else None


def _flat(value: Value) -> Value:
    found = number(value)
    return value if found is None else found


_EXACT: dict[bytes, Callable[[int, int], int]] = {
    b"+": lambda a, b: a + b,
    b"-": lambda a, b: a - b,
    b"*": lambda a, b: a * b,
    b"<": lambda a, b: int(a < b),
    b">": lambda a, b: int(a > b),
    b"<=": lambda a, b: int(a <= b),
    b">=": lambda a, b: int(a >= b),
}


def calculated(sign: bytes, left: Value, right: Value) -> Value:
    """A binary operation on numbers."""
    if sign == b"&":
        return both(left, right)
    if sign == b"|":
        return either(left, right)
    if sign == b"^":
        return exclusive(left, right)
    if sign in (b"<<", b">>"):
        return shifted(left, right, sign == b"<<")
    if sign in (b"==", b"!="):
        same = equal(left, right)
        return None if same is None else int(same == (sign == b"=="))
    a, b = number(left), number(right)
    if a is None or b is None:
        return None
    if sign in _EXACT:
        found = _EXACT[sign](a, b)
        return found if abs(found) < 1 << 64 else None
    if sign in (b"/", b"%") and b:
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if sign == b"/" else a - quotient * b
    return None
