"""One instruction: from what is known before it to what is known after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Protocol

from composer.verify.code.arithmetic import OPERATIONS, unknown, value_of
from composer.verify.code.decode import LR, PC, Address, Immediate, Instruction, Register
from composer.verify.code.effects import Floating, Next
from composer.verify.code.flags import OPPOSITE, holds, tested
from composer.verify.code.state import UNTOUCHED, Notes, State
from composer.verify.code.transfers import TRANSFERS, Machine, address_of
from composer.verify.code.values import Range, Value, Word, limits

_FEW = 8
_TABLE = 256


def _apart(state: State) -> list[State]:
    """A state for each of the few numbers that a comparison leaves: an index, for example."""
    register = state.comparison.register if state.comparison else 0
    value = state.registers[register]
    if state.comparison and isinstance(value, Range) and value.high - value.low < _FEW:
        numbers = range(value.low, value.high + 1, value.step)
        return [state.learnt(register, number) for number in numbers]
    return [state]


class Witness(Protocol):
    """Takes notes along the paths of a handler."""

    def passed(
        self, before: State, instruction: Instruction, way: Next, executed: bool
    ) -> Notes | None:
        """What is noted behind an instruction; None when this way contradicts what was noted.
        `executed` is False where the instruction's condition didn't hold."""


class Stepper(Machine):
    """Steps through the code of one image; `witness` is told of states that have notes."""

    witness: Witness | None = None

    def step(self, state: State, instruction: Instruction) -> list[Next]:
        """All that can follow. Loads and stores are added to `effects`."""
        condition = instruction.condition
        if not condition or instruction.name in ("it", "cbz", "cbnz"):
            return list(self._noted(state, instruction, self._execute(state, instruction)))
        outcome = holds(condition, state.flags)
        after: list[Next] = []
        if outcome is not False:
            for assumed in _apart(state.assuming(condition)):
                after += self._noted(assumed, instruction, self._execute(assumed, instruction))
        if outcome is not True:
            for skipped in _apart(state.assuming(OPPOSITE[condition])):
                way = Next("go", skipped.at(instruction.end))
                after += self._noted(skipped, instruction, (way,), executed=False)
        return after

    def _noted(
        self, before: State, instruction: Instruction, ways: Iterable[Next], executed: bool = True
    ) -> Iterator[Next]:
        if self.witness is None or before.notes is None:
            yield from ways
            return
        for way in ways:
            notes = self.witness.passed(before, instruction, way, executed)
            if notes is not None:
                yield replace(way, state=replace(way.state, notes=notes))

    def _execute(self, state: State, instruction: Instruction) -> Iterator[Next]:
        name = instruction.name
        if name.startswith("v"):
            self.effects.append(Floating(instruction.address))
        branch = _BRANCHES.get(name)
        if branch is not None:
            yield from branch(self, state, instruction)
            return
        if name == "ldr" and self._is_jump(instruction):
            yield from self._jump(state, instruction)
            return
        transfer = TRANSFERS.get(name)
        if transfer is not None:
            after = transfer(self, state, instruction)
        else:
            after = OPERATIONS.get(name, unknown)(state, instruction)
        if after.registers[PC] != UNTOUCHED:
            yield Next("leave", after.put(PC, UNTOUCHED), after.registers[PC])
            return
        yield Next("go", after.at(instruction.end))

    # --- branches -------------------------------------------------------------------------

    def _branch(self, state: State, instruction: Instruction) -> Iterator[Next]:
        (target,) = instruction.operands
        assert isinstance(target, Immediate)
        stays = target.value == instruction.address
        yield Next("halt" if stays else "go", state.at(target.value))

    def _call(self, state: State, instruction: Instruction) -> Iterator[Next]:
        target = value_of(state, instruction.operands[0])
        after = state.put(LR, instruction.end | 1).at(instruction.end)
        if isinstance(instruction.operands[0], Immediate):
            yield Next("call", after, target)
            return
        for function in self._functions(target):
            yield Next("call", after, function & ~1 if isinstance(function, int) else function)

    def _functions(self, target: Value) -> set[Value]:
        """What a pointer to a function can be: one of a table in flash, if it came from there."""
        if not (isinstance(target, Word) and isinstance(target.root, Range) and target.moved == 0):
            return {target}
        table = range(target.root.low, target.root.high + 1, 4)
        if len(table) > _TABLE or any(place in self.writable for place in table):
            return {target}
        return {self.memory.word(place) for place in table}

    def _exchange(self, state: State, instruction: Instruction) -> Iterator[Next]:
        yield Next("leave", state, value_of(state, instruction.operands[0]))

    def _compare_branch(self, state: State, instruction: Instruction) -> Iterator[Next]:
        register, target = instruction.operands
        assert isinstance(register, Register) and isinstance(target, Immediate)
        value = state.get(register.number)
        zero = holds("eq", tested(value))
        for is_zero in (True, False):
            if zero is not None and zero != is_zero:
                continue
            after = state
            if is_zero:
                after = state.learnt(register.number, 0)
            elif isinstance(value, Range) and value.low == 0:
                least = value.step
                more = least if value.high == least else replace(value, low=least)
                after = state.learnt(register.number, more)
            taken = is_zero == (instruction.name == "cbz")
            yield Next("go", after.at(target.value if taken else instruction.end))

    def _table(self, state: State, instruction: Instruction) -> Iterator[Next]:
        (where,) = instruction.operands
        wide = instruction.name == "tbh"
        if not isinstance(where, Address) or where.index is None:
            yield Next("lost", state, text=instruction.text)
            return
        base, index = state.get(where.base), state.get(where.index)
        bounds = limits(index)
        if not isinstance(base, int) or bounds is None or bounds[1] > 255:
            yield Next("lost", state, text=f"{instruction.text}: no bound for the table")
            return
        size = 2 if wide else 1
        for number in range(bounds[0], bounds[1] + 1):
            entry = self.memory.find(base + size * number, size)
            if entry is None:
                yield Next("lost", state, text=instruction.text)
                return
            offset = 2 * int.from_bytes(entry, "little")
            after = state.learnt(where.index, number)
            yield Next("go", after.at(instruction.address + 4 + offset))

    @staticmethod
    def _is_jump(instruction: Instruction) -> bool:
        target, where = instruction.operands[:2]
        return (
            isinstance(target, Register)
            and target.number == PC
            and isinstance(where, Address)
            and where.index is not None
        )

    def _jump(self, state: State, instruction: Instruction) -> Iterator[Next]:
        """A load of the program counter from a table of addresses in flash."""
        where = instruction.operands[1]
        assert isinstance(where, Address) and where.index is not None
        bounds = limits(state.get(where.index))
        if bounds is None or bounds[1] > 255:
            yield Next("lost", state, text=f"{instruction.text}: no bound for the table")
            return
        for number in range(bounds[0], bounds[1] + 1):
            with_index = state.learnt(where.index, number)
            place = address_of(with_index, where)
            target = self.memory.word(place) if isinstance(place, int) else None
            if target is None or place in self.writable:
                yield Next("lost", state, text=instruction.text)
                return
            yield Next("go", with_index.at(target & ~1))

    def _trap(self, state: State, instruction: Instruction) -> Iterator[Next]:
        yield Next("trap", state, text=instruction.text)

    def _system_call(self, state: State, instruction: Instruction) -> Iterator[Next]:
        yield Next("system-call", state.at(instruction.end), text=instruction.text)


_BRANCHES: dict[str, Callable[[Stepper, State, Instruction], Iterator[Next]]] = {
    "b": Stepper._branch, "bl": Stepper._call, "blx": Stepper._call, "bx": Stepper._exchange,
    "cbz": Stepper._compare_branch, "cbnz": Stepper._compare_branch,
    "tbb": Stepper._table, "tbh": Stepper._table,
    "udf": Stepper._trap, "bkpt": Stepper._trap, "svc": Stepper._system_call,
}  # fmt: skip
