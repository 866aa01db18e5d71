"""Instructions that work on registers alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from composer.verify.code.decode import PC, SP, Immediate, Instruction, Operand, Register
from composer.verify.code.flags import ANY, Flags, added, compared, tested
from composer.verify.code.state import Comparison, State
from composer.verify.code.sums import add, masked, scaled, shifted, subtract
from composer.verify.code.values import WORD, Range, Stack, Value, is_named


def value_of(state: State, operand: Operand) -> Value:
    """What an operand that isn't in memory holds."""
    if isinstance(operand, Immediate):
        return operand.value
    if isinstance(operand, Register):
        value = state.get(operand.number)
        return shifted(value, operand.amount, operand.shift) if operand.shift else value
    return None


def result(
    state: State, instruction: Instruction, value: Value, flags: Flags | None = None
) -> State:
    """After an instruction that puts `value` into its first operand."""
    target = instruction.operands[0]
    assert isinstance(target, Register)
    if instruction.sets_flags:
        state = replace(state, flags=flags or tested(value), comparison=None)
    after = (
        state.put(target.number, value) if is_named(value) else state.put_new(target.number, value)
    )
    if instruction.sets_flags and flags is None:
        after = replace(after, comparison=Comparison(target.number, 0, test=True))
    return after.above(value.offset) if target.number == SP and isinstance(value, Stack) else after


def sources(state: State, instruction: Instruction) -> tuple[Value, Value]:
    """The two sources of `op rd, rn, x` or `op rd, x`, which means `op rd, rd, x`."""
    operands = instruction.operands
    first = operands[1] if len(operands) > 2 else operands[0]
    return value_of(state, first), value_of(state, operands[-1])


def _move(state: State, instruction: Instruction) -> State:
    return result(state, instruction, value_of(state, instruction.operands[1]))


def _move_top(state: State, instruction: Instruction) -> State:
    low, high = sources(state, instruction)
    value = None
    if isinstance(low, int) and isinstance(high, int):
        value = low & 0xFFFF | high << 16
    return result(state, instruction, value)


def _not(state: State, instruction: Instruction) -> State:
    value = value_of(state, instruction.operands[1])
    return result(state, instruction, ~value & WORD if isinstance(value, int) else None)


def _add(state: State, instruction: Instruction) -> State:
    a, b = sources(state, instruction)
    if instruction.name == "adr":
        a = state.get(PC) & ~3  # type: ignore[operator]
    return result(state, instruction, add(a, b), added(a, b))


def _subtract(state: State, instruction: Instruction) -> State:
    a, b = sources(state, instruction)
    if instruction.name == "rsb":
        a, b = b, a
    return result(state, instruction, subtract(a, b), compared(a, b))


def _compare(state: State, instruction: Instruction) -> State:
    first, second = instruction.operands
    a, b = value_of(state, first), value_of(state, second)
    against = None
    if isinstance(first, Register) and isinstance(b, int):
        against = Comparison(first.number, b)
    elif isinstance(second, Register) and not second.shift and isinstance(a, int):
        against = Comparison(second.number, a, mirrored=True)
    return replace(state, flags=compared(a, b), comparison=against)


def _test(state: State, instruction: Instruction) -> State:
    first, second = instruction.operands
    both = masked(value_of(state, first), value_of(state, second))
    return replace(state, flags=tested(both), comparison=None)


def _and(state: State, instruction: Instruction) -> State:
    return result(state, instruction, masked(*sources(state, instruction)))


def _clear(state: State, instruction: Instruction) -> State:
    a, b = sources(state, instruction)
    value = masked(a, ~b & WORD) if isinstance(b, int) else None
    return result(state, instruction, value)


def _or(state: State, instruction: Instruction) -> State:
    a, b = sources(state, instruction)
    value: Value = None
    if isinstance(a, int) and isinstance(b, int):
        value = a | b if instruction.name == "orr" else a ^ b
    return result(state, instruction, value)


def _shift(state: State, instruction: Instruction) -> State:
    a, b = sources(state, instruction)
    value = shifted(a, b & 0xFF, instruction.name) if isinstance(b, int) else None
    return result(state, instruction, value)


def _extend(state: State, instruction: Instruction) -> State:
    value = masked(
        value_of(state, instruction.operands[-1]),
        0xFF if "b" in instruction.name else 0xFFFF,
    )
    return result(state, instruction, value)


def _field(state: State, instruction: Instruction) -> State:
    _, source, low, width = instruction.operands
    assert isinstance(low, Immediate) and isinstance(width, Immediate)
    value = shifted(value_of(state, source), low.value, "lsr")
    return result(state, instruction, masked(value, (1 << width.value) - 1))


def _insert(state: State, instruction: Instruction) -> State:
    return result(state, instruction, None)


def _count_zeros(state: State, instruction: Instruction) -> State:
    value = value_of(state, instruction.operands[1])
    zeros: Value = 32 - value.bit_length() if isinstance(value, int) else Range(0, 32)
    return result(state, instruction, zeros)


def _multiply(state: State, instruction: Instruction) -> State:
    return result(state, instruction, _product(*sources(state, instruction)))


def _product(a: Value, b: Value) -> Value:
    if isinstance(a, int) and isinstance(b, int):
        return a * b & WORD
    if isinstance(a, int) and isinstance(b, Range):
        return scaled(b, a)
    if isinstance(a, Range) and isinstance(b, int):
        return scaled(a, b)
    return None


def _multiply_add(state: State, instruction: Instruction) -> State:
    _, a, b, c = (value_of(state, operand) for operand in instruction.operands)
    combine = add if instruction.name == "mla" else subtract
    return result(state, instruction, combine(c, _product(a, b)))


def _nothing(state: State, instruction: Instruction) -> State:
    return state


def _float_to_core(state: State, instruction: Instruction) -> State:
    for operand in instruction.operands[:2]:
        if isinstance(operand, Register):
            state = state.put(operand.number, None)
    return state


def unknown(state: State, instruction: Instruction) -> State:
    """An instruction without a model: every register it names is unknown after it."""
    for operand in instruction.operands:
        if isinstance(operand, Register):
            state = state.put(operand.number, None)
    return replace(state, flags=ANY, comparison=None)


Operation = Callable[[State, Instruction], State]
OPERATIONS: dict[str, Operation] = {
    "mov": _move, "movw": _move, "movt": _move_top, "mvn": _not,
    "add": _add, "addw": _add, "adr": _add,
    "sub": _subtract, "subw": _subtract, "rsb": _subtract,
    "cmp": _compare, "tst": _test, "and": _and, "bic": _clear, "orr": _or, "eor": _or,
    "lsl": _shift, "lsr": _shift, "asr": _shift, "ror": _shift,
    "uxtb": _extend, "uxth": _extend, "ubfx": _field, "bfi": _insert, "clz": _count_zeros,
    "mul": _multiply, "mla": _multiply_add, "mls": _multiply_add,
    "vmsr": _nothing, "vmrs": _float_to_core, "vmov": _float_to_core,
    **dict.fromkeys(
        ("nop", "it", "dsb", "dmb", "isb", "cps", "cpsid", "cpsie", "wfi", "hint"), _nothing
    ),
}  # fmt: skip
