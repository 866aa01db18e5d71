"""Loads and stores: single words, literal pools, the handler's stack, multiples."""

from __future__ import annotations

from porter.context_switch.arm_relocations import R_ARM_ABS32
from porter.context_switch.decode import Immediate, Instruction, Memory
from porter.context_switch.ir import (
    Binary,
    BlockLoad,
    BlockStore,
    Const,
    Expr,
    Load,
    Note,
    Store,
    Symbol,
    Var,
)
from porter.context_switch.lift_state import LiftState
from porter.context_switch.result import NotTranscribable
from porter.context_switch.system_access import CPACR

_SIZES = {
    "ldr": (4, False),
    "ldrb": (1, False),
    "ldrh": (2, False),
    "ldrsb": (1, True),
    "ldrsh": (2, True),
    "str": (4, False),
    "strb": (1, False),
    "strh": (2, False),
}


def load(state: LiftState, instruction: Instruction) -> None:
    """ldr and its narrow forms."""
    size, signed = _SIZES[instruction.name]
    target = state.variable(instruction.registers()[0])
    memory = state.memory(instruction)
    if memory.base == "pc":
        state.assign(target, _literal(state, instruction, memory))
    elif memory.base == "sp" and not state.on_task_stack:
        state.assign(target, Var(_stack_slot(state, instruction, memory, size)))
        _stack_update(state, instruction, memory)
    else:
        address, after = _address(state, instruction, memory)
        state.assign(target, _loaded(state, Load(address, size, signed)))
        if after is not None:
            if state.variable(memory.base) == target:
                raise NotTranscribable(f"'{instruction.text}' loads its own base register")
            state.assign(state.variable(memory.base), after)


def _loaded(state: LiftState, value: Load) -> Expr:
    """A word of memory, or the system register that a guest may read."""
    address = value.address
    known = state.known.get(address.name) if isinstance(address, Var) else address
    return Var("CPACR") if known == Const(CPACR) and value.size == 4 else value


def store(state: LiftState, instruction: Instruction) -> None:
    """str and its narrow forms."""
    size, _ = _SIZES[instruction.name]
    memory = state.memory(instruction)
    value = state.read(instruction.registers()[0])
    if memory.base == "sp" and not state.on_task_stack:
        if instruction.writeback and not instruction.post_index:  # str r0, [sp, #-4]!
            state.depth += memory.displacement
            memory = Memory("sp", None, 0)
        state.assign(_stack_slot(state, instruction, memory, size), value)
        return
    address, after = _address(state, instruction, memory)
    state.emit(Store(state.current, address, value, size))
    if after is not None:
        state.assign(state.variable(memory.base), after)


def double(state: LiftState, instruction: Instruction) -> None:
    """ldrd and strd without writeback."""
    memory = state.memory(instruction)
    if memory.base in ("sp", "pc") or memory.index or instruction.writeback:
        raise NotTranscribable(f"'{instruction.text}' has an address the transcriber can't follow")
    first, second = instruction.registers()
    base = state.read(memory.base)
    places = [Binary("+", base, Const(memory.displacement + step)) for step in (0, 4)]
    if instruction.name == "strd":
        for place, register in zip(places, (first, second), strict=True):
            state.emit(Store(state.current, place, state.read(register)))
        return
    if first == memory.base:
        raise NotTranscribable(f"'{instruction.text}' loads its own base register")
    for place, register in zip(places, (first, second), strict=True):
        state.assign(state.variable(register), Load(place))


def multiple(state: LiftState, instruction: Instruction) -> None:
    """ldm, stm, vldm, vstm in all directions; a base of SP is a push or a pop."""
    base = instruction.registers()[0]
    registers = state.words(instruction.registers()[1:])
    before = instruction.name.endswith("db")
    storing = "stm" in instruction.name
    if base == "sp" and not state.on_task_stack:
        if not instruction.writeback or before is not storing:
            raise NotTranscribable(f"'{instruction.text}' uses the stack in a way not understood")
        (push if storing else pop)(state, registers)
        return
    variables = tuple(state.variable(register) for register in registers)
    pointer = state.variable(base)
    if pointer in variables and not storing and not instruction.writeback:
        _load_with_base(state, pointer, variables, before)
        return
    if pointer in variables and instruction.writeback:
        raise NotTranscribable(f"'{instruction.text}' transfers its own base register")
    if storing:
        values = tuple(Var(name) for name in variables)
        state.emit(BlockStore(state.current, pointer, values, before, instruction.writeback))
    else:
        state.emit(BlockLoad(state.current, pointer, variables, before, instruction.writeback))
    for name in (pointer, *variables):
        state.known.pop(name, None)


def _load_with_base(
    state: LiftState, pointer: str, variables: tuple[str, ...], before: bool
) -> None:
    """A load multiple that overwrites its own base: that word comes last."""
    first = -4 * len(variables) if before else 0
    words = [(name, first + 4 * index) for index, name in enumerate(variables)]
    for name, offset in sorted(words, key=lambda word: word[0] == pointer):
        address = Binary("+" if offset >= 0 else "-", Var(pointer), Const(abs(offset)))
        state.assign(name, Load(address))


def stack_transfer(state: LiftState, instruction: Instruction) -> None:
    """push and pop, core and FPU registers."""
    registers = state.words(instruction.registers())
    if instruction.name.endswith("push"):
        push(state, registers)
    else:
        pop(state, registers)


def push(state: LiftState, registers: tuple[str, ...]) -> None:
    """Words of the handler's own stack become variables."""
    if state.on_task_stack:
        values = tuple(state.read(register) for register in registers)
        state.emit(BlockStore(state.current, "sp", values, before=True, writeback=True))
        return
    state.depth -= 4 * len(registers)
    for index, register in enumerate(registers):
        state.assign(state.slot(4 * index), state.read(register))


def pop(state: LiftState, registers: tuple[str, ...]) -> None:
    """The reverse; a popped PC becomes lr: the function's end."""
    if state.on_task_stack:
        targets = tuple(state.variable("lr" if name == "pc" else name) for name in registers)
        state.emit(BlockLoad(state.current, "sp", targets, before=False, writeback=True))
        for name in targets:
            state.known.pop(name, None)
        return
    values = [Var(state.slot(4 * index)) for index in range(len(registers))]
    for register, value in zip(registers, values, strict=True):
        state.assign(state.variable("lr" if register == "pc" else register), value)
    state.depth += 4 * len(registers)


def _literal(state: LiftState, instruction: Instruction, memory: Memory) -> Expr:
    place = ((instruction.address + 4) & ~3) + memory.displacement
    try:
        value = state.unit.word(state.function.section, place)
    except IndexError:
        raise NotTranscribable(f"'{instruction.text}' loads from outside its section") from None
    relocation = state.unit.relocation(state.function.section, place)
    if relocation is None:
        return Const(value)
    if relocation.kind != R_ARM_ABS32 or not relocation.symbol:
        raise NotTranscribable(f"'{instruction.text}' loads an address that has no name")
    return Symbol(relocation.symbol, relocation.offset)


def _address(
    state: LiftState, instruction: Instruction, memory: Memory
) -> tuple[Expr, Expr | None]:
    """The address of an access, and the base's new value if the instruction writes it back."""
    base = state.read(memory.base)
    if memory.index is not None:
        offset = state.operand(memory.index)
        if instruction.writeback:
            raise NotTranscribable(f"'{instruction.text}' writes back an indexed address")
        return Binary("+", base, offset), None
    step = memory.displacement
    if instruction.post_index:
        amount = instruction.operands[-1]
        if not isinstance(amount, Immediate):
            raise NotTranscribable(f"'{instruction.text}' steps by a register")
        step = amount.value - (1 << 32) if amount.value >> 31 else amount.value
        return base, Binary("+" if step >= 0 else "-", base, Const(abs(step)))
    moved = Binary("+" if step >= 0 else "-", base, Const(abs(step))) if step else base
    if instruction.writeback:
        state.assign(state.variable(memory.base), moved)
        return base, None
    return moved, None


def _stack_slot(state: LiftState, instruction: Instruction, memory: Memory, size: int) -> str:
    if memory.index is not None or size != 4:
        raise NotTranscribable(f"'{instruction.text}' uses the stack in a way not understood")
    return state.slot(memory.displacement)


def _stack_update(state: LiftState, instruction: Instruction, memory: Memory) -> None:
    if instruction.post_index:
        amount = instruction.operands[-1]
        if not isinstance(amount, Immediate):
            raise NotTranscribable(f"'{instruction.text}' steps by a register")
        state.depth += amount.value  # upwards: a pop
        state.emit(Note(state.current, ""))
    elif instruction.writeback:
        raise NotTranscribable(f"'{instruction.text}' uses the stack in a way not understood")
