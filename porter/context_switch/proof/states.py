"""Random machine states, without knowledge of any RTOS.

Most words of memory are pointers into the same memory, so that chains of loads stay in it; some
are small or look like an EXC_RETURN. What hardly ever comes up by chance is made to: all variables
hold the same, two registers do, a register holds what the variables do, a pointer leads into the
frame that is being built, a call changes no variable or returns what it was given, half of the
variables are counts and flags, words are what the original compares with.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from porter.context_switch.proof.image import ARENA, PAGE
from porter.context_switch.proof.model import Model

EXC_RETURNS = (0xFFFF_FFFD, 0xFFFF_FFED)
ON_PSP = 4  # bit of EXC_RETURN
FPU_FULL = 0xF << 20  # of CPACR
# What becomes of a pointer: a constant, or it gets other bits; nine in ten stay.
_CHANGES = ((0, 0), (0, 1), *((0, it) for it in EXC_RETURNS), (0xFFFF_FFFF, 0x54))
_CHANCES = 1 << 12
_ODD = [_CHANGES[index % len(_CHANGES)] for index in range(_CHANCES // 10)]
_KEPT, _CHANGED = np.array(
    [*_ODD, *[(0xFFFF_FFFF, 0)] * (_CHANCES - len(_ODD))], np.uint32
).T.copy()
_FRAMES = (8, 16, 32, 64)  # words from a stack pointer down: small frames get their share
_DRAWN = 64  # numbers at a time
_ABOVE = 4  # words of its caller's that count too
_R12, _PC = 4, 6  # words of an exception frame
_SVC = 0xDF00  # the instruction, with its number in the lower byte
_ENOUGH = 2000  # states; what comes behind them is for what hasn't run yet
_FLAGS, _MORE_FLAGS, _ASKED = (16, 15), (4, 3), (4, 1)  # one state in so many, and which


class Words:
    """A source of random words. In some states `constants` are among them.

    A proof takes thousands of states, and each generator of NumPy that is asked for a few numbers
    costs more than the numbers: 64 bits are drawn for each, many at a time, and cut up.
    """

    def __init__(self, seed: int, constants: Sequence[int] = ()) -> None:
        self._random = np.random.PCG64(seed)
        self._few: list[int] = []
        every, one = _FLAGS if seed < _ENOUGH else _MORE_FLAGS
        self._flags = np.array((0, 1, *constants) if seed % every == one else (), np.uint32)
        every, one = _ASKED
        self._asked = np.array(constants if seed % every == one else (), np.uint32)

    def _many(self, count: int) -> NDArray[np.uint64]:
        return self._random.random_raw(count)

    def _one(self) -> int:
        if not self._few:
            self._few = self._many(_DRAWN).tolist()
        return self._few.pop()

    def below(self, limit: int) -> int:
        """A number from 0 up."""
        return self._one() % limit

    def chance(self, probability: float) -> bool:
        """True with a probability."""
        return self._one() < probability * (1 << 64)

    def pointer(self) -> int:
        """An aligned address with room for a frame on both sides."""
        return ARENA + 8 * (PAGE // 32 + self.below(PAGE // 16))

    def word(self) -> int:
        """Any word."""
        return self._one() & 0xFFFF_FFFF

    def noise(self, count: int) -> list[int]:
        """Any words."""
        return [self.word() for _ in range(count)]

    def mixed(self, count: int) -> NDArray[np.uint32]:
        """Mostly pointers, so that what is loaded can be used as an address."""
        drawn = self._many(count)
        low = drawn.astype(np.uint32)
        found = ARENA + 8 * (PAGE // 32 + low % np.uint32(PAGE // 16))
        change = low >> np.uint32(20)
        return self._some(found & _KEPT[change] ^ _CHANGED[change], drawn, self._asked, 0.2)

    def _some(
        self,
        words: NDArray[np.uint32],
        drawn: NDArray[np.uint64],
        others: NDArray[np.uint32],
        share: float,
    ) -> NDArray[np.uint32]:
        """Words of which a share has become one of the others, as the upper halves of `drawn`
        say."""
        if not len(others):
            return words
        high = (drawn >> np.uint64(32)).astype(np.uint32)
        chosen = others[(high >> np.uint32(16)) % np.uint32(len(others))]
        return np.where(high & np.uint32(0xFFFF) < share * (1 << 16), chosen, words)

    def variables(self, count: int) -> NDArray[np.uint32]:
        """Values of all variables, now and then all the same."""
        found = self._some(self.mixed(count), self._many(count), self._flags, 0.5)
        return np.full(count, found[0], np.uint32) if count and self.chance(0.2) else found

    def stack(self, stacks: Sequence[tuple[int, int]]) -> int:
        """A stack pointer in the upper half of one of them."""
        begin, end = stacks[self.below(len(stacks))]
        first = (begin + end) // 16
        return 8 * (first + self.below(end // 8 - first))

    def coincide(
        self, registers: list[int], stack: int, variables: NDArray[np.uint32]
    ) -> NDArray[np.uint32]:
        """Make registers that may hold arguments pointers into a frame below `stack` now and then,
        or two of them equal; the variables, which may all become what one of them is."""
        for index in range(len(registers)):
            if self.chance(0.1):
                depth = _FRAMES[self.below(len(_FRAMES))]
                word = self.below(depth + _ABOVE) - depth
                registers[index] = stack + 4 * word & 0xFFFF_FFFF
        one, other = (self.below(len(registers)) for _ in range(2))
        if self.chance(0.2):
            registers[one] = registers[other]
        same = np.full(len(variables), registers[one], np.uint32)
        return same if self.chance(0.1) else variables

    def place(self) -> int:
        """The address of a word in the arena."""
        return ARENA + 4 * self.below(PAGE // 4)


class Effects:
    """What a called function does: new values of all variables, of some words, of r0-r3, r12; and
    of PSP, if it is one that sets it."""

    def __init__(self, words: Words, variables: bytes) -> None:
        """`variables`: what they held at entry; a scheduler may choose the task that runs."""
        found = words.variables(len(variables) // 4).tobytes()
        self.variables = variables if words.chance(0.2) else found
        values: list[int] = words.mixed(4 + 5).tolist()
        self.words = [(words.place(), value) for value in values[:4]]
        self.scratch = values[4:]
        self._hands_back = words.chance(0.2)
        self.stack = words.pointer()

    def give(self, value: int) -> None:
        """Let it return this."""
        self.scratch[0], self._hands_back = value, False

    def result(self, arguments: tuple[int, ...]) -> int:
        """What it returns, now and then its first argument."""
        return arguments[0] if arguments and self._hands_back else self.scratch[0]


class State:
    """A state at entry: `core` r4-r11, `fpu` S16-S31, `scratch` r0-r3 and r12, `masks` (PRIMASK,
    BASEPRI), `arena` what lies at ARENA and at 0, `variables` the data section's content."""

    def __init__(
        self, seed: int, model: Model, variables: int, constants: Sequence[int] = ()
    ) -> None:
        """`variables`: words of the data section that are in use; `constants`: what the original
        asks for."""
        self._words = words = Words(seed, constants)
        mixed = words.mixed(8 + 5 + PAGE // 4)
        self.core: list[int] = mixed[:8].tolist()
        self.fpu = words.noise(16)
        self.scratch: list[int] = mixed[8:13].tolist()
        self.exc_return = EXC_RETURNS[words.chance(0.5)]
        if model.may_be_called_on_msp and words.chance(0.5):
            self.exc_return &= ~ON_PSP
        self.psp = words.pointer() if words.chance(0.95) else 0
        self.msp = words.pointer() if model.asks_msp else 0  # of a caller
        self.masks = tuple(int(not clear and words.chance(0.5)) for clear in model.opens_unmasked)
        self.cpacr = int(words.chance(0.5)) * FPU_FULL
        self.pending = int(words.chance(0.5))
        # Whether a handler calls a plain function. Which one has no counterpart: its number is 1.
        self.in_handler = int(model.runs_in_vct or (model.is_plain and words.chance(0.5)))
        self.arena = mixed[13:].tobytes()
        if model.serves:
            # No byte of floats on a stack looks like an EXC_RETURN that no task has.
            self.fpu = [word & 0x7F7F_7F7F for word in self.fpu]
            self._call()
        found = words.variables(variables)
        self.variables = words.coincide(self.scratch, self.psp, found).tobytes()
        self.frame = b""  # what a yield has pushed: it ends at PSP
        self.is_pushed = False  # whether the original finds that there, too
        self._effects: list[Effects] = []

    def __str__(self) -> str:
        """The registers that a counterexample starts with."""
        registers = " ".join(f"{value:#x}" for value in self.core)
        return f"r4-r11 = {registers}, PSP = {self.psp:#x}, EXC_RETURN = {self.exc_return:#x}"

    def _call(self) -> None:
        """In the caller's frame an SVC in front of the PC, mostly number 0, and in r12 now and then
        what a function's address looks like: bit 0 is set."""
        on_msp = self.msp and not self.exc_return & ON_PSP
        frame = self.msp if on_msp else self.psp
        if not frame:
            return
        number = self._words.below(256) if self._words.chance(0.3) else 0
        after = self._words.pointer()
        arena = bytearray(self.arena)
        if self._words.chance(0.5):
            r12 = frame + 4 * _R12 - ARENA
            arena[r12 : r12 + 4] = (self._words.pointer() | 1).to_bytes(4, "little")
        pc = frame + 4 * _PC - ARENA
        arena[pc : pc + 4] = after.to_bytes(4, "little")
        arena[after - 2 - ARENA : after - ARENA] = (_SVC | number).to_bytes(2, "little")
        self.arena = bytes(arena)

    def effect(self, number: int) -> Effects:
        """Of the call with this number, counted from 0."""
        while len(self._effects) <= number:
            self._effects.append(Effects(self._words, self.variables))
        return self._effects[number]
