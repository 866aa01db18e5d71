"""What is known at one place of a path: registers, flags, the function's stack frame."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from composer.verify.code.decode import LR, PC, SP
from composer.verify.code.values import (
    WORD,
    Entry,
    Range,
    Stack,
    Value,
    Word,
    limits,
    ranged,
    signed,
)

Bit = bool | None
UNTOUCHED = -1  # the program counter's place in the registers: nothing was loaded into it
KEPT = (4, 5, 6, 7, 8, 9, 10, 11)  # registers that a function leaves as they were


@dataclass(frozen=True)
class Flags:
    """N, Z, C, V; None is unknown."""

    n: Bit = None
    z: Bit = None
    c: Bit = None
    v: Bit = None


UNKNOWN = Flags()

# condition -> the opposite one
OPPOSITE = {
    "eq": "ne", "ne": "eq", "cs": "cc", "cc": "cs", "mi": "pl", "pl": "mi", "vs": "vc", "vc": "vs",
    "hi": "ls", "ls": "hi", "ge": "lt", "lt": "ge", "gt": "le", "le": "gt",
}  # fmt: skip


_SAME_IF_POSITIVE = {"gt": "hi", "le": "ls", "ge": "cs", "lt": "cc"}


def holds(condition: str, flags: Flags) -> Bit:
    """Whether a condition is met."""
    n, z, c, v = flags.n, flags.z, flags.c, flags.v
    simple = {"eq": z, "cs": c, "mi": n, "vs": v}
    if condition in simple:
        return simple[condition]
    if condition == "hi":
        return False if z or c is False else True if c and z is False else None
    if condition == "ge":
        return None if n is None or v is None else n == v
    if condition == "gt":
        if z:
            return False
        return None if z is None or n is None or v is None else n == v
    opposite = holds(OPPOSITE[condition], flags)
    return None if opposite is None else not opposite


def compared(a: Value, b: Value) -> Flags:
    """Flags of a - b."""
    if isinstance(a, int) and isinstance(b, int):
        result = (a - b) & WORD
        wide = signed(a) - signed(b)
        return Flags(bool(result >> 31), result == 0, a >= b, wide != signed(result))
    one, other = limits(a), limits(b)
    if one is None or other is None:
        return UNKNOWN
    carry = True if one[0] >= other[1] else False if one[1] < other[0] else None
    apart = one[1] < other[0] or other[1] < one[0]
    return Flags(z=False if apart else None, c=carry)


def added(a: Value, b: Value) -> Flags:
    """Flags of a + b."""
    if isinstance(a, int) and isinstance(b, int):
        result = (a + b) & WORD
        wide = signed(a) + signed(b)
        return Flags(bool(result >> 31), result == 0, a + b > WORD, wide != signed(result))
    return UNKNOWN


def tested(value: Value) -> Flags:
    """N and Z of a result."""
    if isinstance(value, int):
        return Flags(bool(value >> 31), value == 0)
    if isinstance(value, Range):
        return Flags(False if value.high < 1 << 31 else None, False if value.low else None)
    return UNKNOWN


@dataclass(frozen=True)
class State:
    """Immutable, so that it can be a node of a graph."""

    pc: int
    registers: tuple[Value, ...]
    flags: Flags = UNKNOWN
    # (register, number): the flags are those of a comparison of these two; of a test, with 0
    compared_with: tuple[int, int] | None = None
    frame: frozenset[tuple[int, Value]] = field(default_factory=frozenset)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.pc, self.registers, self.frame))

    def at(self, pc: int) -> State:
        """The same at another instruction."""
        return State(pc, self.registers, self.flags, self.compared_with, self.frame)

    def get(self, register: int) -> Value:
        """A register; the program counter reads as the address of the instruction plus 4."""
        return (self.pc + 4) & WORD if register == PC else self.registers[register]

    def put(self, register: int, value: Value) -> State:
        """With another value in a register."""
        registers = list(self.registers)
        registers[register] = value
        against = self.compared_with
        if against is not None and against[0] == register:
            against = None
        return State(self.pc, tuple(registers), self.flags, against, self.frame)

    def on_stack(self, offset: int) -> Value:
        """A word of the frame."""
        return dict(self.frame).get(offset)

    def store_on_stack(self, offset: int, size: int, value: Value) -> State:
        """After a store into the frame."""
        kept = {(at, old) for at, old in self.frame if at + 4 <= offset or at >= offset + size}
        if size == 4 and value is not None:
            kept.add((offset, value))
        return replace(self, frame=frozenset(kept))

    def above(self, offset: int) -> State:
        """Without what lies below the stack pointer: it is nobody's any more."""
        return replace(self, frame=frozenset(e for e in self.frame if e[0] >= offset))

    def assuming(self, condition: str) -> State:
        """With what a condition says of the flags and of the register that was compared."""
        flags, state = self.flags, self
        if condition in ("eq", "ne"):
            flags = replace(flags, z=condition == "eq")
        elif condition in ("cs", "cc"):
            flags = replace(flags, c=condition == "cs")
        elif condition in ("mi", "pl"):
            flags = replace(flags, n=condition == "mi")
        if self.compared_with is not None:
            register, number = self.compared_with
            value = _narrowed(self.registers[register], condition, number)
            state = replace(state.put(register, value), compared_with=self.compared_with)
        return replace(state, flags=flags)


def _narrowed(value: Value, condition: str, number: int) -> Value:
    """What a register can be when a comparison with a number came out like this."""
    if isinstance(value, int):
        return value
    if number == 0 and condition == "ls":
        return value  # of a result that was tested, not compared, C says nothing
    low, high = limits(value) or (0, WORD)
    if condition == "eq":
        return number
    if number and max(high, number) < 1 << 31:
        condition = _SAME_IF_POSITIVE.get(condition, condition)
    bounds = {
        "ls": (low, min(high, number)),
        "cc": (low, min(high, number - 1)),
        "hi": (max(low, number + 1), high),
        "cs": (max(low, number), high),
    }.get(condition)
    if bounds is None or not (value is None or isinstance(value, Range | Word)):
        return value
    narrowed = ranged(*bounds)
    return value if narrowed is None or narrowed == Range(0, WORD) else narrowed


def entered(pc: int, arguments: tuple[Value, ...]) -> State:
    """The state at the start of a function; all but its arguments is the caller's."""
    registers: list[Value] = [Entry(n) for n in range(16)]
    registers[: len(arguments)] = arguments
    registers[SP], registers[PC] = Stack(0), UNTOUCHED
    return State(pc, tuple(registers))


def returns_properly(state: State, target: Value) -> bool:
    """Whether leaving to `target` is a return that kept what a function has to keep."""
    return (
        target == Entry(LR)
        and state.registers[SP] == Stack(0)
        and all(state.registers[n] == Entry(n) for n in KEPT)
    )


def _common(a: Value, b: Value) -> Value:
    if isinstance(a, Word) and isinstance(b, Word) and a.root == b.root and a != b:
        return a.somewhere()
    return a if a == b else None


def merged(one: State, other: State) -> State:
    """What is known in both of two states at the same place."""
    return State(
        one.pc,
        tuple(_common(a, b) for a, b in zip(one.registers, other.registers, strict=True)),
        one.flags if one.flags == other.flags else UNKNOWN,
        None,
        one.frame & other.frame,
    )
