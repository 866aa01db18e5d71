"""Numbers of two words: what one addition or subtraction hands on to the next in the carry flag."""

from __future__ import annotations

from porter.context_switch.decode import Instruction
from porter.context_switch.ir import Binary, Choice, Condition, Const, Expr, Var
from porter.context_switch.lift_state import CARRY, KIND_COMPARE, KIND_RESULT, LiftState
from porter.context_switch.result import NotTranscribable


def of_sum(left: Expr, right: Expr) -> Expr:
    """1 where a sum doesn't fit a word."""
    return _if("lo", Binary("+", left, right), left, Const(1), Const(0))


def with_carry(state: LiftState, instruction: Instruction) -> None:
    """adc and sbc, where the carry of a sum, a difference or a comparison is left."""
    operands = instruction.operands
    name = instruction.registers()[0] if instruction.registers() else ""
    if not name or len(operands) not in (2, 3):
        raise NotTranscribable(f"'{instruction.text}' writes no register")
    left, right = (state.operand(it) for it in (operands[0], *operands[1:])[-2:])
    carry = Var(CARRY)
    if instruction.name == "adc":
        value: Expr = Binary("+", Binary("+", left, right), carry)
        after = _if("lo", value, left, Const(1), _if("eq", value, left, carry, Const(0)))
    else:
        value = Binary("-", Binary("+", Binary("-", left, right), carry), Const(1))
        after = _if("hi", left, right, Const(1), _if("eq", left, right, carry, Const(0)))
    target = state.variable(name)
    if not instruction.sets_flags:
        state.assign(target, value)
        return
    state.assign("value", value)  # of the carry that was there before
    state.assign(CARRY, after)
    state.assign(target, Var("value"))
    state.set_flags(KIND_RESULT, state.read(name), Const(0), keeps_carry=True)


def _if(code: str, left: Expr, right: Expr, yes: Expr, no: Expr) -> Expr:
    return Choice(Condition(code, Const(KIND_COMPARE), left, right), yes, no)
