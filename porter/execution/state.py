"""The memory of a run, with branches that are tried, taken back and joined."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from porter.execution.words import MASK, Memory, Pointer, Value, Word, as_word, both, either, join
from porter.registers.bit_band import aliased, is_alias

Signal = Literal["break", "continue", "return", "stop"] | None
"""How a statement ended: None goes on with the next, `stop` never ends."""

PERIPHERALS = 0x4000_0000
_WORSE = ("stop", "break", "continue", "return")  # a way out that is preferred comes later
_Key = tuple[Memory, int]


class _Missing:
    """Nothing was stored there."""


_MISSING = _Missing()
_Cell = Value | _Missing


class State:
    """`reset`: what registers hold at first. `follows`: bits that the chip itself sets, by
    register: each ready bit with the bit that switches on what gets ready."""

    def __init__(
        self, reset: Mapping[int, int], follows: Mapping[int, Mapping[int, int]]
    ) -> None:  # fmt: skip
        self.registers = Memory("registers", dict(reset))
        self._follows = follows
        self._journals: list[dict[_Key, _Cell]] = []

    def get(self, memory: Memory, offset: int) -> Value:
        """What a cell holds."""
        return memory.cells.get(offset, 0 if memory.zero else None)

    def put(self, memory: Memory, offset: int, value: Value) -> None:
        """Store into a cell."""
        if self._journals:
            old: _Cell = memory.cells.get(offset, _MISSING)
            self._journals[-1].setdefault((memory, offset), old)
        memory.cells[offset] = value

    def register(self, address: int) -> Value:
        """A register as it reads: what was written, apart from the bits that the chip sets."""
        word = as_word(self.registers.cells.get(address))
        if word is None:
            return None
        value, known = word.value, word.known
        for ready, enable in self._follows.get(address, {}).items():
            value = value & ~(1 << ready) | (value >> enable & 1) << ready
            known = known & ~(1 << ready) | (known >> enable & 1) << ready
        return Word(value & known, known, MASK, address)

    def write_register(self, address: int, value: Value) -> tuple[int, Value]:
        """Write a register or its bit-band alias; returns the register and its new content."""
        if is_alias(address):
            target, bit = aliased(address)
            word = as_word(value)
            old = self.register(target)
            if word is None or not word.known & 1:
                new = both(old, MASK & ~(1 << bit))
                new = None if new is None else _unknown_bit(new, bit)
            elif word.value & 1:
                new = either(old, 1 << bit)
            else:
                new = both(old, MASK & ~(1 << bit))
            address, value = target, new
        if address in self.registers.cells:
            word = as_word(value)
            self.put(
                self.registers, address, None if word is None else Word(word.value, word.known)
            )
        return address, value

    def copy(self, memory: Memory, offset: int, source: Pointer, size: int) -> None:
        """Copy an object; what is unknown of it becomes unknown."""
        if source.memory is None or source.offset is None:
            self.forget(memory)
            return
        if offset == 0 and source.memory.zero:
            memory.zero = True
        cells = list(source.memory.cells)
        for at in cells:
            if 0 <= at - source.offset < max(size, 1):
                self.put(memory, offset + at - source.offset, self.get(source.memory, at))

    def forget(self, memory: Memory) -> None:
        """Somebody else may have written to an object."""
        for offset in list(memory.cells):
            self.put(memory, offset, None)
        memory.zero = False

    def alternatives(self, arms: Sequence[Callable[[], Signal]]) -> Signal:
        """Run each arm from the same state; go on with what is known after those that go on."""
        results: list[tuple[Signal, dict[_Key, Value]]] = []
        for arm in arms:
            self._journals.append({})
            signal = arm()
            journal = self._journals.pop()
            results.append((signal, {key: self.get(*key) for key in journal}))
            for (memory, offset), old in journal.items():
                if isinstance(old, _Missing):
                    memory.cells.pop(offset, None)
                else:
                    memory.cells[offset] = old
        signals = [signal for signal, _ in results]
        ends = (
            None if None in signals else max((s for s in signals if s), key=_WORSE.index)
        )  # fmt: skip
        chosen = [cells for signal, cells in results if signal == ends]
        for key in dict.fromkeys(key for cells in chosen for key in cells):
            if key[0] is self.registers:  # set up on one way only: that is what it is set up for
                values = [cells[key] for cells in chosen if key in cells]
            else:
                values = [cells.get(key, self.get(*key)) for cells in chosen]
            joined = values[0]
            for value in values[1:]:
                joined = join(joined, value)
            self.put(*key, joined)
        return ends

    @property
    def trying(self) -> bool:
        """Whether this is one of several ways, of which another may be the real one."""
        return bool(self._journals)

    def drop_branches(self) -> None:
        """A run was given up in the middle: its state stays as it is."""
        self._journals.clear()


def _unknown_bit(value: Value, bit: int) -> Value:
    word = as_word(value)
    if word is None:
        return None
    return Word(word.value, word.known & ~(1 << bit), word.kept & ~(1 << bit), word.source)
