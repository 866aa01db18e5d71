"""What an emulated machine of either kind has: an image in memory, runs from a state, and what they
leave. `emulate` is Cortex-M's, `riscv.emulate` that of RV32."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

import unicorn as _unicorn

from porter.context_switch.proof.image import (
    ARENA,
    CODE,
    CONSTANTS,
    DATA,
    PAGE,
    RETURN,
    STACK,
    STATE,
    STUBS,
    Image,
)
from porter.context_switch.proof.model import SPIN, SWITCH, TRIGGER, YIELD_BYTE, Model
from porter.context_switch.proof.outcome import Broken, Event, Outcome, Stray
from porter.context_switch.proof.pages import Pages
from porter.context_switch.proof.registers import Registers
from porter.context_switch.proof.states import Effects

unicorn: Any = _unicorn  # its type information says less than it does
_MOST = 5000  # instructions
_NO_MEMORY = (
    unicorn.UC_ERR_READ_UNMAPPED,
    unicorn.UC_ERR_WRITE_UNMAPPED,
    unicorn.UC_ERR_WRITE_PROT,
)


class Emulated(ABC):
    """One image, run again and again. `ends`: errors of the emulator that end a run as it should;
    `block_words` is the size of fvm_state."""

    ends: ClassVar[tuple[int, ...]] = (unicorn.UC_ERR_FETCH_UNMAPPED, unicorn.UC_ERR_FETCH_PROT)
    block_words: ClassVar[int]
    _in_vct = False  # a start's port runs there what follows

    def __init__(
        self, uc: Any, image: Image, model: Model, variables: int, native: bool, *pages: int
    ) -> None:
        """`variables`: words of the data section in use; `native`: this is the original; `pages`
        are this machine's own."""
        self._uc, self._image, self._model, self._native = uc, image, model, native
        self._size = 4 * variables
        data = unicorn.UC_PROT_READ | unicorn.UC_PROT_WRITE
        code = unicorn.UC_PROT_READ | unicorn.UC_PROT_EXEC
        for place, limit, rights in (
            (CODE, STUBS, code), (STUBS, CONSTANTS, code), (CONSTANTS, RETURN, unicorn.UC_PROT_READ)
        ):  # fmt: skip
            ends = [start + len(data) for start, data in image.code if place <= start < limit]
            uc.mem_map(place, -(-(max([*ends, place + 1]) - place) // PAGE) * PAGE, rights)
        self._shared = Pages(uc)
        self._shared.map(DATA, -(-max(self._size, 4) // PAGE) * PAGE, data)
        for place in (0, ARENA, STACK, STATE, *pages):
            self._shared.map(place, PAGE, data)
        for start, words in image.code:
            uc.mem_write(start, words)
        uc.hook_add(unicorn.UC_HOOK_CODE, self._visit)
        if native:
            uc.hook_add(unicorn.UC_HOOK_MEM_READ, self._read_code, begin=CODE, end=CONSTANTS - 1)
        if not native:
            yields = {"begin": STATE + YIELD_BYTE, "end": STATE + YIELD_BYTE}
            uc.hook_add(unicorn.UC_HOOK_MEM_WRITE, self._yield, **yields)
        self._groups: dict[tuple[int, ...], Registers] = {}
        self._calls = self._looks = 0
        self._ran: list[int] = []  # address of every instruction
        self._problem = ""
        self._astray = False
        self._outcome = Outcome()

    @abstractmethod
    def _visit(self, uc: Any, address: int, size: int, data: object) -> None:
        """In front of every instruction."""

    def _own_constant(self, address: int) -> bool:
        """Whether the instruction at an address reads a constant that stands with the code."""
        return False

    def _read_code(self, *_: object) -> None:
        """A pointer of the original leads to code, a label's address in a frame for example. What
        it finds there is no memory that both have: the port's code is other code."""
        if not self._own_constant(self._ran[-1]):
            self._astray = True
            self._uc.emu_stop()

    @abstractmethod
    def _masks(self) -> tuple[bool, bool]:
        """Whether PRIMASK and BASEPRI, or what stands for them, mask."""

    def _reset(self, variables: bytes, arena: bytes, block: list[int]) -> None:
        """Memory as a run finds it; `block`: fvm_state, which only a port has."""
        self._outcome = Outcome()
        self._calls = self._looks = 0
        self._ran = []
        self._problem = ""
        self._astray = False
        self._shared.write(DATA, variables)
        self._shared.write(0, arena)
        self._shared.write(ARENA, arena)
        if not self._native:
            self._shared.write(STATE, struct.pack(f"<{self.block_words}I", *block))

    def _until_it_ends(self, start: int) -> int | None:
        """Run; the number of the emulator's error where one was to end it. Raises Stray, Broken."""
        ended = None
        try:
            self._uc.emu_start(start, 0xFFFF_FFFF, count=_MOST)
        except unicorn.UcError as error:
            if error.errno in _NO_MEMORY:
                raise Stray from error
            if error.errno not in self.ends and not self._problem:
                raise Broken(f"stops the processor: {error}") from error
            ended = int(error.errno)
        if self._astray:
            raise Stray
        if self._problem:
            raise Broken(self._problem)
        if len(self._ran) >= _MOST:
            raise Broken(f"still runs after {_MOST} instructions")
        return ended

    def _counted(self) -> Outcome:
        """What the run left, with what ran."""
        outcome, ran = self._outcome, self._ran
        outcome.steps, outcome.count = set(pairwise((0, *ran))), len(ran)
        outcome.last = ran[-1] if ran else 0
        return outcome

    def _yield(self, *_: object) -> None:
        self._event(TRIGGER, (SWITCH,))

    def _event(self, name: str, arguments: tuple[int, ...]) -> None:
        masks = self._masks() if self._model.sees_masks_at(name) else (False, False)
        event = Event(name, arguments, self._memory(), masks, self._in_vct)
        self._outcome.events.append(event)
        if self._is_last(name, arguments):
            self._outcome.ended = True
            self._uc.emu_stop()

    def _is_last(self, name: str, arguments: tuple[int, ...]) -> bool:
        """Whether nothing follows a call that matters."""
        return name == SPIN

    def _affect(self, effect: Effects) -> None:
        """What a call does to memory."""
        self._calls += 1
        self._shared.write(DATA, effect.variables)
        for place, value in effect.words:
            self._shared.write(place, struct.pack("<I", value))

    def _next_cycles(self) -> int:
        """What the cycle counter shows: at each look another number."""
        self._looks += 1
        return self._looks * 0x9E37_79B1 & 0xFFFF_FFFF

    def _block(self) -> list[int]:
        size = self.block_words
        return list(struct.unpack(f"<{size}I", self._shared.read(STATE, 4 * size)))

    def _memory(self) -> bytes:
        """What both have: variables, the arena, the lowest page."""
        found = bytearray().join(self._shared.read(start, size) for start, size in self.parts)
        for address in self._image.own:
            found[address - DATA : address - DATA + 4] = bytes(4)
        return bytes(found)

    @property
    def parts(self) -> tuple[tuple[int, int], ...]:
        """Address and size of each piece of memory that original and port share."""
        return (DATA, self._size), (ARENA, PAGE), (0, PAGE)

    def _registers(self, registers: tuple[int, ...], values: Sequence[int]) -> None:
        self._group(registers).write(values)

    def _read(self, registers: tuple[int, ...]) -> list[int]:
        return self._group(registers).read()

    def _set(self, register: int, value: int) -> None:
        self._group((register,)).write((value,))

    def _get(self, register: int) -> int:
        return self._group((register,)).read()[0]

    def _group(self, registers: tuple[int, ...]) -> Registers:
        if registers not in self._groups:
            self._groups[registers] = Registers(self._uc, registers)
        return self._groups[registers]
