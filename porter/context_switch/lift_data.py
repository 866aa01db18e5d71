"""Data-processing instructions: moves, arithmetic, logic, comparisons."""

from __future__ import annotations

from porter.context_switch import lift_bits, lift_carry
from porter.context_switch.arm_relocations import R_ARM_THM_MOVT, R_ARM_THM_MOVW
from porter.context_switch.decode import Immediate, Instruction, Register
from porter.context_switch.ir import OWN, RETURNED, WORD, Binary, Const, Expr, Note, Symbol, Var
from porter.context_switch.lift_state import (
    CARRY,
    KIND_COMPARE,
    KIND_RESULT,
    TASK_STACK,
    UNKNOWN_STACK,
    LiftState,
)
from porter.context_switch.result import NotTranscribable

_OPERATORS = {
    "add": "+",
    "sub": "-",
    "and": "&",
    "orr": "|",
    "eor": "^",
    "mul": "*",
    "lsl": "<<",
    "lsr": ">>",
    "asr": ">>>",
}
_SHIFTS = ("lsl", "lsr", "asr")
_INVERTED = {"bic": "&", "orn": "|"}


def move(state: LiftState, instruction: Instruction) -> None:
    """mov, movs, movw."""
    target, source = instruction.operands
    if not isinstance(target, Register):
        raise NotTranscribable(f"'{instruction.text}' moves to no register")
    relocation = state.unit.relocation(state.function.section, instruction.address)
    if "sp" in instruction.registers():
        move_stack_pointer(state, instruction)
        return
    value = state.operand(source)
    if relocation is not None:
        if relocation.kind != R_ARM_THM_MOVW or not relocation.symbol:
            raise NotTranscribable(f"'{instruction.text}' has an unknown relocation")
        value = Symbol(relocation.symbol)
    state.assign(state.variable(target.name), value)
    if instruction.sets_flags:
        state.set_flags(KIND_RESULT, state.read(target.name), Const(0))


def move_top(state: LiftState, instruction: Instruction) -> None:
    """movt: the upper half; with a relocation, of the symbol whose lower half stands there."""
    target, source = instruction.operands
    if not isinstance(target, Register) or not isinstance(source, Immediate):
        raise NotTranscribable(f"'{instruction.text}' is no movt the transcriber knows")
    variable = state.variable(target.name)
    relocation = state.unit.relocation(state.function.section, instruction.address)
    if relocation is not None:
        if relocation.kind != R_ARM_THM_MOVT or state.known.get(variable) != Symbol(
            relocation.symbol
        ):
            raise NotTranscribable(f"'{instruction.text}' completes no movw of the same symbol")
        state.assign(variable, Symbol(relocation.symbol))
        return
    low = Binary("&", state.read(target.name), Const(0xFFFF))
    state.assign(variable, Binary("|", low, Const(source.value << 16 & WORD)))


def arithmetic(state: LiftState, instruction: Instruction) -> None:
    """Two- and three-operand arithmetic and logic, plain or setting flags."""
    target, *sources = instruction.operands
    if not isinstance(target, Register):
        raise NotTranscribable(f"'{instruction.text}' writes no register")
    if target.name == "sp":
        _adjust_stack(state, instruction)
        return
    if len(sources) == 1:
        sources = [Register(target.name), sources[0]]
    left, right = (state.operand(source) for source in sources)
    result: Expr = Binary(_OPERATORS.get(instruction.name, "-"), left, right)
    if instruction.name in _SHIFTS:
        result = lift_bits.shifted(_OPERATORS[instruction.name], left, right)
    elif instruction.name in _INVERTED:
        result = Binary(_INVERTED[instruction.name], left, lift_bits.inverse(right))
    elif instruction.name == "rsb":
        result = Binary("-", right, left)
    if instruction.sets_flags and instruction.name == "sub":
        state.set_flags(KIND_COMPARE, left, right)
    adds = instruction.sets_flags and instruction.name == "add"
    if adds and state.carries:
        state.assign(CARRY, lift_carry.of_sum(left, right))
    state.assign(state.variable(target.name), result)
    if instruction.sets_flags and instruction.name != "sub":
        state.set_flags(KIND_RESULT, state.read(target.name), Const(0), keeps_carry=adds)


def multiply_and_add(state: LiftState, instruction: Instruction) -> None:
    """mla and mls."""
    target, *factors, summand = instruction.registers()
    product = Binary("*", *(state.read(name) for name in factors))
    operator = "+" if instruction.name == "mla" else "-"
    state.assign(state.variable(target), Binary(operator, state.read(summand), product))


def invert(state: LiftState, instruction: Instruction) -> None:
    """mvn."""
    target, source = instruction.operands
    if not isinstance(target, Register):
        raise NotTranscribable(f"'{instruction.text}' writes no register")
    state.assign(state.variable(target.name), lift_bits.inverse(state.operand(source)))
    if instruction.sets_flags:
        state.set_flags(KIND_RESULT, state.read(target.name), Const(0))


def compare(state: LiftState, instruction: Instruction) -> None:
    """cmp, tst and teq: nothing but flags."""
    left, right = (state.operand(operand) for operand in instruction.operands)
    if instruction.name == "cmp":
        state.set_flags(KIND_COMPARE, left, right)
    else:
        operator = "&" if instruction.name == "tst" else "^"
        state.set_flags(KIND_RESULT, Binary(operator, left, right), Const(0))


def move_stack_pointer(state: LiftState, instruction: Instruction) -> None:
    """`mov sp, r0` and `mov r0, sp`: some handlers work on the task's stack with push and pop.

    What SP is set to when it comes back must be what it was: `check_own_stack` looks at that."""
    target, source = instruction.registers()
    if source == "sp":
        place = Var("sp") if state.on_task_stack else Var(f"{OWN}{-state.depth}")
        state.assign(state.variable(target), place)
    elif state.on_task_stack:
        state.assign(RETURNED, Binary("-", state.read(source), Var(f"{OWN}{-state.left}")))
        state.depth = state.left
    else:
        state.left = state.left if state.depth == UNKNOWN_STACK else state.depth
        state.assign("sp", state.read(source))
        state.depth = TASK_STACK


def _adjust_stack(state: LiftState, instruction: Instruction) -> None:
    if state.on_task_stack:
        step = state.operand(instruction.operands[-1])
        operator = "+" if instruction.name == "add" else "-"
        state.assign("sp", Binary(operator, Var("sp"), step))
        return
    amount = instruction.operands[-1]
    source = instruction.operands[-2]
    if (
        not isinstance(amount, Immediate)
        or not isinstance(source, Register)
        or source.name != "sp"
        or instruction.name not in ("add", "sub")
    ):
        raise NotTranscribable(
            f"'{instruction.text}' moves the handler's stack to a place "
            "the transcriber can't follow"
        )
    state.depth += amount.value if instruction.name == "add" else -amount.value
    state.emit(Note(state.current, ""))
