"""Instructions on the bits of a word: shifts, parts of words, leading zeros."""

from __future__ import annotations

from porter.context_switch.decode import Immediate, Instruction, Register
from porter.context_switch.ir import WORD, Binary, Choice, Condition, Const, Expr, LeadingZeros
from porter.context_switch.lift_state import KIND_COMPARE, LiftState
from porter.context_switch.result import NotTranscribable


def inverse(word: Expr) -> Expr:
    """All bits the other way."""
    return Const(~word.value & WORD) if isinstance(word, Const) else Binary("^", word, Const(WORD))


def shifted(operator: str, word: Expr, amount: Expr) -> Expr:
    """By the lowest byte of a register, where C leaves open what 32 and more do: nothing but zeros
    remain, or copies of the sign (ARMv7-M Architecture Reference Manual, A2.2.1)."""
    if isinstance(amount, Const) and 0 < amount.value < 32:
        return Binary(operator, word, amount)
    amount = Binary("&", amount, Const(0xFF))
    rest: Expr = Binary(operator, word, Const(31)) if operator == ">>>" else Const(0)
    few = Condition("lo", Const(KIND_COMPARE), amount, Const(32))
    return Choice(few, Binary(operator, word, amount), rest)


def extend(state: LiftState, instruction: Instruction) -> None:
    """uxtb, uxth, sxtb, sxth."""
    width = 8 if instruction.name.endswith("b") else 16
    _part(state, instruction, 0, width, signed=instruction.name.startswith("s"))


def extract(state: LiftState, instruction: Instruction) -> None:
    """ubfx, sbfx."""
    low, width = _field(instruction)
    _part(state, instruction, low, width, signed=instruction.name == "sbfx")


def insert(state: LiftState, instruction: Instruction) -> None:
    """bfi, bfc."""
    target, low, width = _target(instruction), *_field(instruction)
    mask = (1 << width) - 1
    value: Expr = Binary("&", state.read(target), Const(~(mask << low) & WORD))
    if instruction.name == "bfi":
        part = Binary("&", state.operand(instruction.operands[1]), Const(mask))
        value = Binary("|", value, Binary("<<", part, Const(low)) if low else part)
    state.assign(state.variable(target), value)


def count_zeros(state: LiftState, instruction: Instruction) -> None:
    """clz. Of 0 it is 32, where C's is undefined."""
    word = state.operand(instruction.operands[1])
    none = Condition("eq", Const(KIND_COMPARE), word, Const(0))
    value = Choice(none, Const(32), LeadingZeros(word))
    state.assign(state.variable(_target(instruction)), value)


def _part(state: LiftState, instruction: Instruction, low: int, width: int, signed: bool) -> None:
    word = state.operand(instruction.operands[1])
    if signed:
        above = Const(32 - low - width)
        value = Binary(">>>", Binary("<<", word, above), Const(32 - width))
    else:
        value = Binary(
            "&", Binary(">>", word, Const(low)) if low else word, Const((1 << width) - 1)
        )
    state.assign(state.variable(_target(instruction)), value)


def _target(instruction: Instruction) -> str:
    target = instruction.operands[0]
    if not isinstance(target, Register):
        raise NotTranscribable(f"'{instruction.text}' writes no register")
    return target.name


def _field(instruction: Instruction) -> tuple[int, int]:
    """Lowest bit and width."""
    low, width = instruction.operands[-2:]
    if not isinstance(low, Immediate) or not isinstance(width, Immediate):
        raise NotTranscribable(f"'{instruction.text}' names no bits")
    return low.value, width.value
