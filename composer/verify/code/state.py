"""What is known at one place of a path: registers, flags, the function's stack frame."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from typing import Protocol

from composer.verify.code.decode import LR, PC, SP
from composer.verify.code.flags import ANY, CONDITIONS, MIRRORED, Flags
from composer.verify.code.sums import learnt
from composer.verify.code.values import (
    WORD,
    Entry,
    Range,
    Stack,
    Value,
    Word,
    born_at,
    form,
    limits,
    ranged,
    united,
)

UNTOUCHED = -1  # the program counter's place in the registers: nothing was loaded into it
FLAGS = 1 << 16  # among the bits of registers
KEPT = (4, 5, 6, 7, 8, 9, 10, 11)  # registers that a function leaves as they were


_SAME_IF_POSITIVE = {"gt": "hi", "le": "ls", "ge": "cs", "lt": "cc"}


@dataclass(frozen=True)
class Comparison:
    """What the flags are of: a register compared with a number, or the other way round; a register
    that was tested, with 0."""

    register: int
    number: int
    mirrored: bool = False
    test: bool = False


Frame = frozenset[tuple[int, int, Value]]
"""Offset, bytes and value of what is known of a stack frame."""


class Notes(Protocol):
    """What somebody else writes down along a path; immutable."""

    def keeping(self, live: int) -> Notes:
        """Without what is known of registers whose values nobody reads any more."""

    def united(self, other: Notes) -> Notes:
        """What both know."""


@dataclass(frozen=True)
class State:
    """Immutable, so that it can be a node of a graph."""

    pc: int
    registers: tuple[Value, ...]
    flags: Flags = ANY
    comparison: Comparison | None = None
    frame: Frame = field(default_factory=frozenset)
    notes: Notes | None = None

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.pc, self.registers, self.frame))

    def at(self, pc: int) -> State:
        """The same at another instruction."""
        return State(pc, self.registers, self.flags, self.comparison, self.frame, self.notes)

    def get(self, register: int) -> Value:
        """A register; the program counter reads as the address of the instruction plus 4."""
        return (self.pc + 4) & WORD if register == PC else self.registers[register]

    def put(self, register: int, value: Value) -> State:
        """With another value in a register."""
        registers = list(self.registers)
        registers[register] = value
        against = self.comparison
        if against is not None and against.register == register:
            against = None
        return State(self.pc, tuple(registers), self.flags, against, self.frame, self.notes)

    def put_new(self, register: int, value: Value, number: int = 0) -> State:
        """With a value that this instruction puts into a register, the `number`th that it makes."""
        born = 16 * self.pc + number
        state = self
        if any(_born(v) == born for v in self.registers) or any(
            _born(part[2]) == born for part in self.frame
        ):
            # What it made before is another value.
            state = self._each(lambda old: born_at(old, None) if _born(old) == born else old)
        return state.put(register, born_at(value, born))

    def _each(self, change: Callable[[Value], Value]) -> State:
        return replace(
            self,
            registers=tuple(map(change, self.registers)),
            frame=frozenset(
                (at, size, new) for at, size, v in self.frame if (new := change(v)) is not None
            ),
        )

    def on_stack(self, offset: int, size: int) -> Value:
        """A word of the frame, or a part of one that was stored like this."""
        return next((v for at, length, v in self.frame if (at, length) == (offset, size)), None)

    def store_on_stack(self, offset: int, size: int, value: Value) -> State:
        """After a store into the frame."""
        kept = {e for e in self.frame if e[0] + e[1] <= offset or e[0] >= offset + size}
        if size < 4:
            bounds = limits(value)
            fits = bounds is not None and bounds[1] < 1 << 8 * size
            value = value if fits else Range(0, (1 << 8 * size) - 1)
        if value is not None:
            kept.add((offset, size, value))
        return replace(self, frame=frozenset(kept))

    def above(self, offset: int) -> State:
        """Without what lies below the stack pointer: it is nobody's any more."""
        return replace(self, frame=frozenset(e for e in self.frame if e[0] >= offset))

    def assuming(self, condition: str) -> State:
        """With what a condition says of the flags and of the register that was compared."""
        state = replace(self, flags=self.flags & CONDITIONS[condition])
        if self.comparison is None:
            return state
        register = self.comparison.register
        value = self.registers[register]
        narrowed = _narrowed(value, condition, self.comparison)
        return state if narrowed == value else state.learnt(register, narrowed)

    def learnt(self, register: int, value: Value) -> State:
        """More is known of the value in a register, wherever it is, and of what comes from it."""
        old = self.registers[register]
        if _born(old) is None:
            registers = list(self.registers)
            registers[register] = value
            return replace(self, registers=tuple(registers))
        return self._each(lambda other: learnt(other, old, value))

    def keeping(self, live: int) -> State:
        """Without the registers, and the flags (bit 16), whose values nobody reads any more."""
        flags, comparison = self.flags, self.comparison
        if not live & FLAGS:
            flags, comparison = ANY, None
        elif comparison is not None and not live >> comparison.register & 1:
            comparison = None
        registers = self.registers
        if any(v is not None and not live >> n & 1 for n, v in enumerate(registers)):
            registers = tuple(v if live >> n & 1 else None for n, v in enumerate(registers))
        notes = None if self.notes is None else self.notes.keeping(live)
        if (registers, flags, comparison) == (self.registers, self.flags, self.comparison) and (
            notes is self.notes
        ):
            return self
        return State(self.pc, registers, flags, comparison, self.frame, notes)


def _born(value: Value) -> int | None:
    return value.born if isinstance(value, Range | Word) else None


def _narrowed(value: Value, condition: str, made: Comparison) -> Value:
    """What a register can be when a comparison with a number came out like this."""
    if isinstance(value, int):
        return value
    number = made.number
    if made.mirrored:
        condition = MIRRORED.get(condition, "")
    if made.test and condition in ("ls", "cs", "cc"):
        return value  # of a result that was tested, not compared, C says nothing
    low, high = limits(value) or (0, WORD)
    if condition == "eq":
        return number
    if condition == "ne":
        low, high = low + (low == number), high - (high == number)
        condition = "within"
    if number and max(high, number) < 1 << 31:
        condition = _SAME_IF_POSITIVE.get(condition, condition)
    bounds = {
        "within": (low, high),
        "ls": (low, min(high, number)),
        "cc": (low, min(high, number - 1)),
        "hi": (max(low, number + 1), high),
        "cs": (max(low, number), high),
    }.get(condition)
    if bounds is None or not (value is None or isinstance(value, Range | Word)):
        return value
    if isinstance(value, Word) and value.root is not None and bounds[1] == WORD:
        return value  # that it isn't 0 is less than where it came from
    narrowed = ranged(*bounds)
    if narrowed is None or bounds == (0, WORD):
        return value
    shape = form(value)
    if shape is None or not isinstance(narrowed, Range):
        return narrowed
    return replace(narrowed, born=_born(value), factor=shape[0], moved=shape[1])


def entered(pc: int, arguments: tuple[Value, ...]) -> State:
    """The state at the start of a function; all but its arguments is the caller's."""
    registers: list[Value] = [Entry(n) for n in range(16)]
    registers[: len(arguments)] = arguments
    registers[SP], registers[PC] = Stack(0), UNTOUCHED
    return State(pc, tuple(registers))


def returns_properly(state: State, target: Value) -> bool:
    """Whether leaving to `target` is a return that kept what a function has to keep."""
    return target == Entry(LR) and state.registers[SP] == Stack(0) and not lost_registers(state)


def lost_registers(state: State) -> list[str]:
    """Those that a function has to keep and that don't hold what they did."""
    return [f"r{n}" for n in KEPT if state.registers[n] != Entry(n)]


def merged(one: State, other: State, unite: Callable[[Value, Value], Value]) -> State:
    """What is known in both of two states at the same place."""
    parts = {(at, size): value for at, size, value in other.frame}
    frame = {
        (at, size, unite(value, parts[at, size]))
        for at, size, value in one.frame
        if (at, size) in parts
    }
    return State(
        one.pc,
        tuple(unite(a, b) for a, b in zip(one.registers, other.registers, strict=True)),
        one.flags | other.flags,
        one.comparison if one.comparison == other.comparison else None,
        frozenset(entry for entry in frame if entry[2] is not None),
        one.notes if one.notes is None or other.notes is None else one.notes.united(other.notes),
    )


def joined(states: Iterable[State]) -> State:
    """What is known in all of some states at the same place."""
    return reduce(lambda one, other: merged(one, other, united), states)
