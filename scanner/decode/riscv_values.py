"""What registers hold before an instruction of RV32, as far as the straight line before it tells.

Values are constants, a constant plus a scaled index, or what is loaded from such an address.
Anything else is an index, which has a bound where a comparison, a mask or the size of a load gives
it one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from scanner.decode.riscv_fields import Fields, fields

MAX_CASES = 1024
_MASK = 0xFFFFFFFF
_BYTE, _WORD, _WORD_SCALE = 1, 4, 2

_COMPARISONS = "bltu", "bgeu"
_SOURCES = {"addi": 1, "slli": 1, "ori": 1, "load": 1, "add": 2, "shadd": 2, "store": 2}
_SOURCES |= dict.fromkeys(_COMPARISONS, 2)
"""How many registers a result depends on that is followed."""

Load = Callable[[int, int], list[int]]


class Value(NamedTuple):
    """`base + (unknown << scale)`; with `loaded` the word there, plus `added`. Unknown 0 is none.

    `age` tells loads apart that stores may have made different.
    """

    base: int
    unknown: int = 0
    scale: int = 0
    loaded: bool = False
    added: int = 0
    age: int = 0

    @property
    def constant(self) -> int | None:
        """The value where all of it is known."""
        return None if self.unknown or self.loaded else self.base & _MASK


class Sought:
    """The registers that a value depends on; told the instructions before it, the last one first.

    What doesn't bear on them is most of a function, and need not be run.
    """

    def __init__(self, register: int) -> None:
        self._registers = {register}
        self._loads = False

    def needs(self, parts: Fields) -> bool:
        """Whether the value depends on an instruction, so that it must be run."""
        sources = _SOURCES.get(parts.name, 0)
        if parts.name == "store":
            needed = self._loads
        elif parts.name in _COMPARISONS:
            needed = True
        else:
            needed = parts.target in self._registers
            self._registers.discard(parts.target)
            self._loads |= needed and parts.name == "load"
        if needed:
            self._registers.update((parts.left, parts.right)[:sources])
        return needed


class Registers:
    """Runs instructions on partly known values.

    `load` reads constant words of the image from an address on, as many as there are of a number.
    """

    def __init__(self, load: Load) -> None:
        self._load = load
        self._held: dict[int, Value] = {}
        self._indices: dict[Value | int, int] = {}
        self._counts: dict[int, int] = {}
        self._stores = 0
        self._last_stored: tuple[Value, Value] | None = None

    def value(self, register: int) -> Value:
        """What a register holds; what is not known is an index of its own."""
        if register == 0:
            return Value(0)
        if register not in self._held:
            self._held[register] = self._unknown()
        return self._held[register]

    def possible(self, value: Value) -> list[int]:
        """All that the value may be, if that is bounded."""
        count = min(self._counts.get(value.unknown, 0), MAX_CASES) if value.unknown else 1
        if not value.loaded:
            base = value.base + value.added
            return [base + (number << value.scale) & _MASK for number in range(count)]
        if not count or (value.unknown and value.scale != _WORD_SCALE):
            return []
        words = self._load(value.base & _MASK, count)
        return [word + value.added & _MASK for word in words]

    def step(self, address: int, word: int) -> None:
        """Run one instruction; a branch is one that was not taken."""
        parts = fields(word)
        if parts.name in _COMPARISONS:
            self._compare(parts)
        elif parts.name == "store":
            self._store(parts)
        elif parts.target:
            result = self._result(address, parts)
            self._held[parts.target] = self._unknown() if result is None else result

    def _unknown(self, count: int = 0) -> Value:
        index = self._index(len(self._indices))
        if count:
            self._counts[index] = count
        return Value(0, index)

    def _index(self, of: Value | int) -> int:
        """The index that stands for a value; the same for the same value."""
        if isinstance(of, Value) and of == Value(0, of.unknown):
            return of.unknown
        return self._indices.setdefault(of, len(self._indices) + 1)

    def _store(self, parts: Fields) -> None:
        """Only the last store is remembered: which others it changed is not known."""
        self._stores += 1
        place = self._sum(self.value(parts.left), Value(parts.number))
        if place is None or parts.size != _WORD:
            self._last_stored = None
        else:
            self._last_stored = place, self.value(parts.right)

    def _load_word(self, place: Value) -> Value | None:
        if self._last_stored is not None and self._last_stored[0] == place:
            return self._last_stored[1]
        return None if place.loaded else place._replace(loaded=True, age=self._stores)

    def _compare(self, parts: Fields) -> None:
        """Behind `bltu limit, x` x is at most the limit, behind `bgeu x, limit` below it."""
        left, right = self.value(parts.left), self.value(parts.right)
        is_less = parts.name == "bltu"
        limit, value = (left.constant, right) if is_less else (right.constant, left)
        if limit is not None and value.constant is None:
            index = self._index(value)
            self._counts[index] = min(limit + is_less, self._counts.get(index, MAX_CASES))

    def _result(self, address: int, parts: Fields) -> Value | None:
        left, right = self.value(parts.left), self.value(parts.right)
        match parts.name:
            case "lui":
                return Value(parts.number)
            case "auipc":
                return Value(address + parts.number)
            case "addi":
                return self._sum(left, Value(parts.number))
            case "add":
                return self._sum(left, right)
            case "shadd":
                return self._sum(self._shifted(left, parts.size), right)
            case "slli":
                return self._shifted(left, parts.number)
            case "ori" if left.constant is not None:
                return Value(left.constant | parts.number & _MASK)
            case "andi" if 0 <= parts.number < MAX_CASES:
                return self._unknown(parts.number + 1)
            case "load" if parts.size == _BYTE:
                return self._unknown(256)
            case "load" if parts.size == _WORD:
                place = self._sum(left, Value(parts.number))
                return None if place is None else self._load_word(place)
        return None

    def _sum(self, left: Value, right: Value) -> Value | None:
        """At least one must be a constant; a loaded word keeps what is added to it."""
        whole, other = (left, right) if right.constant is not None else (right, left)
        if other.constant is None:
            return None
        if whole.loaded:
            return whole._replace(added=whole.added + other.base)
        return whole._replace(base=whole.base + other.base)

    def _shifted(self, value: Value, places: int) -> Value:
        if value.constant is not None:
            return Value(value.base << places & _MASK)
        return Value(0, self._index(value), places)
