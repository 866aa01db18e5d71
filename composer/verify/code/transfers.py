"""Loads, stores and special registers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from composer.verify.code.arithmetic import value_of
from composer.verify.code.decode import PC, SP, Address, Instruction, Other, Register
from composer.verify.code.effects import Access, Effect, Special
from composer.verify.code.state import State
from composer.verify.code.sums import add, shifted, subtract
from composer.verify.code.values import WORD, Range, Stack, Value, Word, is_named, word_at
from composer.verify.memory import Memory

_SIZES = {"b": 1, "sb": 1, "h": 2, "sh": 2, "": 4}


class Machine:
    """Memory and special registers; `effects` collects what instructions do to them.

    `writable` is the RAM, whose content is unknown. `stack_top`: what the main stack pointer holds
    when a handler is entered. `specials` are the values of special registers; `pointed` what is
    assumed of words behind pointers, by offset and size.
    """

    def __init__(self, memory: Memory, writable: range, stack_top: int | None = None) -> None:
        self.memory = memory
        self.writable = writable
        self.stack_top = stack_top
        self.specials: Mapping[str, Value] = {}
        self.pointed: Mapping[tuple[int | None, int], int] = {}
        self.effects: list[Effect] = []

    def read(self, state: State, instruction: Instruction, place: Value, size: int) -> Value:
        """What a load gives."""
        if isinstance(place, Stack):
            value = state.on_stack(place.offset, size)
            return None if instruction.name.startswith("ldrs") else value
        self.effects.append(Access(instruction.address, False, place, size))
        is_signed = instruction.name.startswith("ldrs")
        if isinstance(place, int) and place not in self.writable:
            data = self.memory.find(place, size)
            if data is not None:
                return int.from_bytes(data, "little", signed=is_signed) & WORD
        if isinstance(place, Word) and not place.through and (place.moved, size) in self.pointed:
            return self.pointed[place.moved, size]
        if size < 4 and not is_signed:
            return Range(0, (1 << 8 * size) - 1)
        return word_at(place) if size == 4 else None

    def write(
        self, state: State, instruction: Instruction, place: Value, size: int, value: Value
    ) -> State:
        """After a store."""
        if isinstance(place, Stack):
            if place.offset >= 0:
                self.effects.append(Access(instruction.address, True, place, size, value))
            return state.store_on_stack(place.offset, size, value)
        self.effects.append(Access(instruction.address, True, place, size, value))
        return state


def address_of(state: State, where: Address) -> Value:
    """The address of a memory operand, without a post-index."""
    if where.base < 0:
        return None
    base = state.get(where.base)
    if where.base == PC and isinstance(base, int):
        base &= ~3
    if where.index is not None:
        index = shifted(state.get(where.index), where.shift, "lsl")
        base = subtract(base, index) if where.subtract else add(base, index)
    return add(base, where.offset & WORD)


def _indexed(state: State, instruction: Instruction) -> tuple[State, Value, int]:
    """State after write-back, the address, and how many operands come before it."""
    number = next(n for n, o in enumerate(instruction.operands) if isinstance(o, Address))
    where = instruction.operands[number]
    assert isinstance(where, Address)
    place = address_of(state, where)
    if instruction.post_indexed and number + 1 < len(instruction.operands):
        by = value_of(state, instruction.operands[number + 1])
        state = state.put(where.base, add(state.get(where.base), by))
    elif instruction.writes_back:
        state = state.put(where.base, place)
    return state, place, number


def _loaded(state: State, register: int, value: Value, number: int) -> State:
    """A register after a load; a value of the frame is the one that was stored there."""
    return state.put(register, value) if is_named(value) else state.put_new(register, value, number)


def _load(machine: Machine, state: State, instruction: Instruction) -> State:
    size = _SIZES.get(instruction.name[3:].rstrip("t"), 4)
    after, place, count = _indexed(state, instruction)
    for number, target in enumerate(instruction.operands[:count]):
        if isinstance(target, Register):
            where = add(place, 4 * number)
            value = machine.read(state, instruction, where, size)
            after = _loaded(after, target.number, value, number)
    return after


def _store(machine: Machine, state: State, instruction: Instruction) -> State:
    size = _SIZES.get(instruction.name[3:].rstrip("t"), 4)
    after, place, count = _indexed(state, instruction)
    for number, source in enumerate(instruction.operands[:count]):
        where = add(place, 4 * number)
        after = machine.write(after, instruction, where, size, value_of(state, source))
    return after


def _exclusive(machine: Machine, state: State, instruction: Instruction) -> State:
    after, place, _ = _indexed(state, instruction)
    status, source = instruction.operands[0], instruction.operands[1]
    after = machine.write(after, instruction, place, 4, value_of(state, source))
    assert isinstance(status, Register)
    return after.put(status.number, Range(0, 1))


def _multiple(machine: Machine, state: State, instruction: Instruction) -> State:
    """push, pop, ldm, stm and the floating-point ones, whose registers aren't followed."""
    name, operands = instruction.name, list(instruction.operands)
    if name in ("push", "pop", "vpush", "vpop"):
        base, writes_back = SP, True
    else:
        first = operands.pop(0)
        assert isinstance(first, Register)
        base, writes_back = first.number, instruction.writes_back
    step = 8 if any(isinstance(o, Other) and o.name[:1] == "d" for o in operands) else 4
    size = step * len(operands)
    place = state.get(base)
    if name in ("push", "vpush", "stmdb", "ldmdb", "vstmdb", "vldmdb"):
        place = add(place, -size & WORD)
        end: Value = place
    else:
        end = add(place, size)
    stores = name in ("push", "vpush") or "st" in name
    after = state
    for number, operand in enumerate(operands):
        where = add(place, step * number)
        if stores:
            value = value_of(state, operand)
            after = machine.write(after, instruction, where, step, value)
        else:
            loaded = machine.read(state, instruction, where, step)
            if isinstance(operand, Register):
                after = _loaded(after, operand.number, loaded, number)
    if writes_back and not any(isinstance(o, Register) and o.number == base for o in operands):
        after = after.put(base, end)
        if base == SP and isinstance(end, Stack):
            after = after.above(end.offset)
    return after


def _read_special(machine: Machine, state: State, instruction: Instruction) -> State:
    target, special = instruction.operands[0], instruction.text.split(",")[-1].strip().lower()
    assert isinstance(target, Register)
    machine.effects.append(Special(instruction.address, special, False))
    return state.put(target.number, machine.specials.get(special))


def _write_special(machine: Machine, state: State, instruction: Instruction) -> State:
    special = instruction.text.split()[1].rstrip(",").lower()
    value = value_of(state, instruction.operands[-1])
    machine.effects.append(Special(instruction.address, special, True, value))
    if special == "msp":
        emptied = machine.stack_top is not None and value == machine.stack_top
        return replace(state.put(SP, Stack(0) if emptied else None), frame=frozenset())
    return state


def _float_memory(machine: Machine, state: State, instruction: Instruction) -> State:
    after, place, _ = _indexed(state, instruction)
    if instruction.name.startswith("vst"):
        return machine.write(after, instruction, place, 8, None)
    machine.read(state, instruction, place, 8)
    return after


Transfer = Callable[[Machine, State, Instruction], State]
TRANSFERS: dict[str, Transfer] = {
    "ldr": _load, "ldrb": _load, "ldrh": _load, "ldrsb": _load, "ldrsh": _load, "ldrd": _load,
    "ldrex": _load, "str": _store, "strb": _store, "strh": _store, "strd": _store,
    "strex": _exclusive, "vstr": _float_memory, "vldr": _float_memory,
    **dict.fromkeys(
        ("push", "pop", "ldm", "ldmdb", "stm", "stmdb", "vpush", "vpop",
         "vldmia", "vldmdb", "vstmia", "vstmdb"),
        _multiple,
    ),
    "mrs": _read_special, "msr": _write_special,
}  # fmt: skip
