"""One instruction: from what is known before it to what is known after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from composer.verify.code.decode import (
    LR,
    PC,
    SP,
    Address,
    Immediate,
    Instruction,
    Operand,
    Other,
    Register,
)
from composer.verify.code.state import (
    OPPOSITE,
    UNKNOWN,
    UNTOUCHED,
    Flags,
    State,
    added,
    compared,
    holds,
    tested,
)
from composer.verify.code.values import (
    WORD,
    Range,
    Stack,
    Value,
    add,
    limits,
    masked,
    ranged,
    shifted,
    subtract,
    word_at,
)
from composer.verify.memory import Memory

_SIZES = {"b": 1, "sb": 1, "h": 2, "sh": 2, "": 4}


@dataclass(frozen=True)
class Access:
    """A store or load: where, how many bytes, and what a store puts there."""

    at: int
    is_store: bool
    place: Value
    size: int
    value: Value = None


@dataclass(frozen=True)
class Special:
    """A read or write of a special register: control, psp, ipsr and so on."""

    at: int
    name: str
    written: bool
    value: Value = None


@dataclass(frozen=True)
class Next:
    """Where a step leads. kind: go, call, leave, trap, system-call, lost."""

    kind: str
    state: State
    target: Value = None
    text: str = ""


@dataclass(frozen=True)
class Call:
    """A call of a function with what is known of its arguments."""

    at: int
    target: int
    arguments: tuple[Value, ...]


Effect = Access | Special | Call


class Stepper:
    """Steps through the code of one image; `specials` are the values of special registers.

    `stack_top`: what the main stack pointer holds when a handler is entered.
    """

    def __init__(self, memory: Memory, writable: range, stack_top: int | None = None) -> None:
        self.memory = memory
        self.writable = writable
        self.stack_top = stack_top
        self.specials: Mapping[str, int] = {}
        self.effects: list[Effect] = []

    def step(self, state: State, instruction: Instruction) -> list[Next]:
        """All that can follow. Loads and stores are added to `effects`."""
        condition = instruction.condition
        if not condition or instruction.name in ("it", "cbz", "cbnz"):
            return list(self._execute(state, instruction))
        outcome = holds(condition, state.flags)
        after: list[Next] = []
        if outcome is not False:
            after += self._execute(state.assuming(condition), instruction)
        if outcome is not True:
            skipped = state.assuming(OPPOSITE[condition])
            after.append(Next("go", skipped.at(instruction.end)))
        return after

    def _execute(self, state: State, instruction: Instruction) -> Iterator[Next]:
        name = instruction.name
        branch = _BRANCHES.get(name)
        if branch is not None:
            yield from branch(self, state, instruction)
            return
        if name == "ldr" and self._is_jump(instruction):
            yield from self._jump(state, instruction)
            return
        handler = _HANDLERS.get(name)
        after = handler(self, state, instruction) if handler else self._unknown(state, instruction)
        if after.registers[PC] != UNTOUCHED:
            yield Next("leave", after.put(PC, UNTOUCHED), after.registers[PC])
            return
        yield Next("go", after.at(instruction.end))

    # --- branches -------------------------------------------------------------------------

    def _branch(self, state: State, instruction: Instruction) -> Iterator[Next]:
        (target,) = instruction.operands
        assert isinstance(target, Immediate)
        yield Next("go", state.at(target.value))

    def _call(self, state: State, instruction: Instruction) -> Iterator[Next]:
        target = self._value(state, instruction.operands[0])
        if isinstance(instruction.operands[0], Register) and isinstance(target, int):
            target &= ~1
        after = state.put(LR, instruction.end | 1).at(instruction.end)
        yield Next("call", after, target)

    def _exchange(self, state: State, instruction: Instruction) -> Iterator[Next]:
        yield Next("leave", state, self._value(state, instruction.operands[0]))

    def _compare_branch(self, state: State, instruction: Instruction) -> Iterator[Next]:
        register, target = instruction.operands
        assert isinstance(register, Register) and isinstance(target, Immediate)
        zero = tested(state.get(register.number)).z
        taken_if_zero = instruction.name == "cbz"
        for is_zero in (True, False):
            if zero is not None and zero != is_zero:
                continue
            after = state
            if is_zero and not isinstance(state.get(register.number), int):
                after = state.put(register.number, 0)
            taken = is_zero == taken_if_zero
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
            after = state.put(where.index, number)
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
            with_index = state.put(where.index, number)
            place = self._place(with_index, where)
            target = self.memory.word(place) if isinstance(place, int) else None
            if target is None or place in self.writable:
                yield Next("lost", state, text=instruction.text)
                return
            yield Next("go", with_index.at(target & ~1))

    def _trap(self, state: State, instruction: Instruction) -> Iterator[Next]:
        yield Next("trap", state, text=instruction.text)

    def _system_call(self, state: State, instruction: Instruction) -> Iterator[Next]:
        yield Next("system-call", state.at(instruction.end), text=instruction.text)

    # --- data -----------------------------------------------------------------------------

    def _value(self, state: State, operand: Operand) -> Value:
        if isinstance(operand, Immediate):
            return operand.value
        if isinstance(operand, Register):
            value = state.get(operand.number)
            return shifted(value, operand.amount, operand.shift) if operand.shift else value
        return None

    def _result(
        self, state: State, instruction: Instruction, value: Value, flags: Flags | None = None
    ) -> State:
        """After an instruction that puts `value` into its first operand."""
        target = instruction.operands[0]
        assert isinstance(target, Register)
        if instruction.sets_flags:
            state = replace(state, flags=flags or tested(value), compared_with=None)
        after = state.put(target.number, value)
        return (
            after.above(value.offset) if target.number == SP and isinstance(value, Stack) else after
        )

    def _sources(self, state: State, instruction: Instruction) -> tuple[Value, Value]:
        """The two sources of `op rd, rn, x` or `op rd, x`, which means `op rd, rd, x`."""
        operands = instruction.operands
        first = operands[1] if len(operands) > 2 else operands[0]
        return self._value(state, first), self._value(state, operands[-1])

    def _move(self, state: State, instruction: Instruction) -> State:
        return self._result(state, instruction, self._value(state, instruction.operands[1]))

    def _move_top(self, state: State, instruction: Instruction) -> State:
        low, high = self._sources(state, instruction)
        value = None
        if isinstance(low, int) and isinstance(high, int):
            value = low & 0xFFFF | high << 16
        return self._result(state, instruction, value)

    def _not(self, state: State, instruction: Instruction) -> State:
        value = self._value(state, instruction.operands[1])
        return self._result(state, instruction, ~value & WORD if isinstance(value, int) else None)

    def _add(self, state: State, instruction: Instruction) -> State:
        a, b = self._sources(state, instruction)
        if instruction.name == "adr":
            a = state.get(PC) & ~3  # type: ignore[operator]
        return self._result(state, instruction, add(a, b), added(a, b))

    def _subtract(self, state: State, instruction: Instruction) -> State:
        a, b = self._sources(state, instruction)
        if instruction.name == "rsb":
            a, b = b, a
        after = self._result(state, instruction, subtract(a, b), compared(a, b))
        return after

    def _compare(self, state: State, instruction: Instruction) -> State:
        first, second = instruction.operands
        a, b = self._value(state, first), self._value(state, second)
        against = None
        if isinstance(first, Register) and isinstance(b, int):
            against = (first.number, b)
        return replace(state, flags=compared(a, b), compared_with=against)

    def _test(self, state: State, instruction: Instruction) -> State:
        first, second = instruction.operands
        both = masked(self._value(state, first), self._value(state, second))
        return replace(state, flags=tested(both), compared_with=None)

    def _and(self, state: State, instruction: Instruction) -> State:
        return self._result(state, instruction, masked(*self._sources(state, instruction)))

    def _clear(self, state: State, instruction: Instruction) -> State:
        a, b = self._sources(state, instruction)
        value = masked(a, ~b & WORD) if isinstance(b, int) else None
        return self._result(state, instruction, value)

    def _or(self, state: State, instruction: Instruction) -> State:
        a, b = self._sources(state, instruction)
        value: Value = None
        if isinstance(a, int) and isinstance(b, int):
            value = a | b if instruction.name == "orr" else a ^ b
        return self._result(state, instruction, value)

    def _shift(self, state: State, instruction: Instruction) -> State:
        a, b = self._sources(state, instruction)
        value = shifted(a, b & 0xFF, instruction.name) if isinstance(b, int) else None
        return self._result(state, instruction, value)

    def _extend(self, state: State, instruction: Instruction) -> State:
        value = masked(
            self._value(state, instruction.operands[-1]),
            0xFF if "b" in instruction.name else 0xFFFF,
        )
        return self._result(state, instruction, value)

    def _field(self, state: State, instruction: Instruction) -> State:
        _, source, low, width = instruction.operands
        assert isinstance(low, Immediate) and isinstance(width, Immediate)
        value = shifted(self._value(state, source), low.value, "lsr")
        return self._result(state, instruction, masked(value, (1 << width.value) - 1))

    def _count_zeros(self, state: State, instruction: Instruction) -> State:
        value = self._value(state, instruction.operands[1])
        zeros: Value = 32 - value.bit_length() if isinstance(value, int) else Range(0, 32)
        return self._result(state, instruction, zeros)

    def _multiply(self, state: State, instruction: Instruction) -> State:
        a, b = self._sources(state, instruction)
        value: Value = None
        if isinstance(a, int) and isinstance(b, int):
            value = a * b & WORD
        elif isinstance(a, int) and isinstance(b, Range):
            value = ranged(a * b.low, a * b.high)
        elif isinstance(a, Range) and isinstance(b, int):
            value = ranged(b * a.low, b * a.high)
        return self._result(state, instruction, value)

    # --- memory ---------------------------------------------------------------------------

    def _place(self, state: State, where: Address) -> Value:
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

    def _indexed(self, state: State, instruction: Instruction) -> tuple[State, Value, int]:
        """State after write-back, the address, and how many operands come before it."""
        number = next(n for n, o in enumerate(instruction.operands) if isinstance(o, Address))
        where = instruction.operands[number]
        assert isinstance(where, Address)
        place = self._place(state, where)
        if instruction.post_indexed and number + 1 < len(instruction.operands):
            by = self._value(state, instruction.operands[number + 1])
            state = state.put(where.base, add(state.get(where.base), by))
        elif instruction.writes_back:
            state = state.put(where.base, place)
        return state, place, number

    def _load(self, state: State, instruction: Instruction) -> State:
        size = _SIZES.get(instruction.name[3:].rstrip("t"), 4)
        after, place, count = self._indexed(state, instruction)
        for number, target in enumerate(instruction.operands[:count]):
            if isinstance(target, Register):
                where = add(place, 4 * number)
                after = after.put(target.number, self.read(state, instruction, where, size))
        return after

    def _store(self, state: State, instruction: Instruction) -> State:
        size = _SIZES.get(instruction.name[3:].rstrip("t"), 4)
        after, place, count = self._indexed(state, instruction)
        for number, source in enumerate(instruction.operands[:count]):
            where = add(place, 4 * number)
            after = self.write(after, instruction, where, size, self._value(state, source))
        return after

    def _exclusive(self, state: State, instruction: Instruction) -> State:
        after, place, _ = self._indexed(state, instruction)
        status, source = instruction.operands[0], instruction.operands[1]
        after = self.write(after, instruction, place, 4, self._value(state, source))
        assert isinstance(status, Register)
        return after.put(status.number, Range(0, 1))

    def _multiple(self, state: State, instruction: Instruction) -> State:
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
                value = self._value(state, operand)
                after = self.write(after, instruction, where, step, value)
            else:
                loaded = self.read(state, instruction, where, step)
                if isinstance(operand, Register):
                    after = after.put(operand.number, loaded)
        if writes_back and not any(isinstance(o, Register) and o.number == base for o in operands):
            after = after.put(base, end)
            if base == SP and isinstance(end, Stack):
                after = after.above(end.offset)
        return after

    def read(self, state: State, instruction: Instruction, place: Value, size: int) -> Value:
        """What a load gives."""
        if isinstance(place, Stack):
            value = state.on_stack(place.offset)
            return value if size == 4 else None
        self.effects.append(Access(instruction.address, False, place, size))
        is_signed = instruction.name.startswith("ldrs")
        if isinstance(place, int) and place not in self.writable:
            data = self.memory.find(place, size)
            if data is not None:
                return int.from_bytes(data, "little", signed=is_signed) & WORD
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

    # --- the rest -------------------------------------------------------------------------

    def _read_special(self, state: State, instruction: Instruction) -> State:
        target, special = instruction.operands[0], instruction.text.split(",")[-1].strip().lower()
        assert isinstance(target, Register)
        self.effects.append(Special(instruction.address, special, False))
        return state.put(target.number, self.specials.get(special))

    def _write_special(self, state: State, instruction: Instruction) -> State:
        special = instruction.text.split()[1].rstrip(",").lower()
        value = self._value(state, instruction.operands[-1])
        self.effects.append(Special(instruction.address, special, True, value))
        if special == "msp":
            emptied = self.stack_top is not None and value == self.stack_top
            return replace(state.put(SP, Stack(0) if emptied else None), frame=frozenset())
        return state

    def _nothing(self, state: State, instruction: Instruction) -> State:
        return state

    def _float_to_core(self, state: State, instruction: Instruction) -> State:
        for operand in instruction.operands[:2]:
            if isinstance(operand, Register):
                state = state.put(operand.number, None)
        return state

    def _float_memory(self, state: State, instruction: Instruction) -> State:
        after, place, _ = self._indexed(state, instruction)
        if instruction.name.startswith("vst"):
            return self.write(after, instruction, place, 8, None)
        self.read(state, instruction, place, 8)
        return after

    def _unknown(self, state: State, instruction: Instruction) -> State:
        """An instruction without a model: every register it names is unknown after it."""
        for operand in instruction.operands:
            if isinstance(operand, Register):
                state = state.put(operand.number, None)
        return replace(state, flags=UNKNOWN, compared_with=None)


_Handler = Callable[[Stepper, State, Instruction], State]
_S = Stepper
_HANDLERS: dict[str, _Handler] = {
    "mov": _S._move, "movw": _S._move, "movt": _S._move_top, "mvn": _S._not,
    "add": _S._add, "addw": _S._add, "adr": _S._add,
    "sub": _S._subtract, "subw": _S._subtract, "rsb": _S._subtract,
    "cmp": _S._compare, "tst": _S._test, "and": _S._and, "bic": _S._clear,
    "orr": _S._or, "eor": _S._or,
    "lsl": _S._shift, "lsr": _S._shift, "asr": _S._shift, "ror": _S._shift,
    "uxtb": _S._extend, "uxth": _S._extend, "ubfx": _S._field, "clz": _S._count_zeros,
    "mul": _S._multiply,
    "ldr": _S._load, "ldrb": _S._load, "ldrh": _S._load, "ldrsb": _S._load, "ldrsh": _S._load,
    "ldrd": _S._load, "ldrex": _S._load,
    "str": _S._store, "strb": _S._store, "strh": _S._store, "strd": _S._store,
    "strex": _S._exclusive,
    **dict.fromkeys(
        ("push", "pop", "ldm", "ldmdb", "stm", "stmdb", "vpush", "vpop",
         "vldmia", "vldmdb", "vstmia", "vstmdb"),
        _S._multiple,
    ),
    "vstr": _S._float_memory, "vldr": _S._float_memory,
    "vmsr": _S._nothing, "vmrs": _S._float_to_core, "vmov": _S._float_to_core,
    "mrs": _S._read_special, "msr": _S._write_special,
    **dict.fromkeys(("nop", "it", "dsb", "dmb", "isb", "cps", "cpsid", "cpsie", "wfi", "hint"),
                    _S._nothing),
}  # fmt: skip
_BRANCHES: dict[str, Callable[[Stepper, State, Instruction], Iterator[Next]]] = {
    "b": _S._branch, "bl": _S._call, "blx": _S._call, "bx": _S._exchange,
    "cbz": _S._compare_branch, "cbnz": _S._compare_branch,
    "tbb": _S._table, "tbh": _S._table,
    "udf": _S._trap, "bkpt": _S._trap, "svc": _S._system_call,
}  # fmt: skip
