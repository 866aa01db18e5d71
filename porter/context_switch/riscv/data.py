"""Arithmetic and memory of RV32."""

from __future__ import annotations

import re

from porter.context_switch.ir import Binary, Const, Expr, Load, Note, Store, Symbol, Undefined, Var
from porter.context_switch.result import ROLE_OTHER, NotTranscribable
from porter.context_switch.riscv.decode import LOADS, SP, STORES, Instruction
from porter.context_switch.riscv.places import symbol_behind
from porter.context_switch.riscv.state import RiscvState
from porter.context_switch.walk import fold

_WORD = 0xFFFF_FFFF
_SIGN = 0x8000_0000
_OPERATORS = {
    "add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^", "mul": "*",
    "sll": "<<", "srl": ">>", "sra": ">>>",
}  # fmt: skip
_SHIFTS = ("sll", "srl", "sra")
_HALF = "half of an address"


def execute(state: RiscvState, it: Instruction) -> None:
    """An instruction that neither branches nor touches a CSR. NotTranscribable where unknown."""
    if it.name in ("lui", "auipc"):
        _upper(state, it)
    elif it.name in LOADS or it.name == "flw":
        _load(state, it)
    elif it.name in STORES or it.name == "fsw":
        _store(state, it)
    else:
        _arithmetic(state, it)


def _upper(state: RiscvState, it: Instruction) -> None:
    """lui and auipc: constants, or halves of addresses that the second half completes."""
    if state.unit.relocation(state.function.section, it.address) is not None:
        state.write(it.rd, Undefined(_HALF))
    elif it.name == "lui":
        state.write(it.rd, Const(it.immediate))
    else:
        raise NotTranscribable(f"'{it.text}' uses its own address")


def _arithmetic(state: RiscvState, it: Instruction) -> None:
    name = it.name
    if name == "addi" and (place := _place(state, it)) is not None:
        state.write(it.rd, place)
        return
    if state.role == ROLE_OTHER and it.rd == SP:
        if name != "addi" or it.rs1 != SP:
            raise NotTranscribable(f"'{it.text}' moves the stack in a way not understood")
        state.depth += it.immediate
        state.emit(Note(state.current, ""))
        return
    constant = name in ("addi", "andi", "ori", "xori", "slti", "sltiu", "slli", "srli", "srai")
    left = state.value(it.rs1)
    right: Expr = Const(it.immediate & _WORD) if constant else state.value(it.rs2)
    name = "sltu" if name == "sltiu" else name.removesuffix("i") if constant else name
    if name in _SHIFTS and not isinstance(right, Const):
        right = Binary("&", right, Const(31))
    if name == "slt":
        left, right, name = _biased(left), _biased(right), "sltu"
    if name == "sltu":
        state.write(it.rd, Binary("<", left, right))
    elif name in _OPERATORS and not (name in _SHIFTS and it.immediate > 31):
        state.write(it.rd, _calculated(_OPERATORS[name], left, right))
    else:
        raise NotTranscribable(f"instruction '{it.text}' is not known")


def _address(state: RiscvState, it: Instruction) -> Expr:
    if (place := _place(state, it)) is not None:
        return place
    base = state.value(it.rs1)
    return _calculated("+", base, Const(it.immediate & _WORD))


def _place(state: RiscvState, it: Instruction) -> Symbol | None:
    """The named address whose second half an instruction adds."""
    found = symbol_behind(state.unit, state.function.section, it, state.at)
    if found is None:
        return None
    symbol, first = found
    text = first.text
    if text.startswith(("auipc ", "lui ")):
        text = re.sub(r"\S+$", symbol.name, it.text)
    state.current = ((first.address, text),)
    return symbol


def _load(state: RiscvState, it: Instruction) -> None:
    size, signed = LOADS.get(it.name, (4, False))
    if it.rs1 == SP and state.role == ROLE_OTHER:
        value: Expr = Var(state.slot(it.immediate))
    else:
        value = Load(_address(state, it), size, signed)
    if it.name == "flw":
        state.assign(_float(state, it.rd), value)
    else:
        state.write(it.rd, value)


def _store(state: RiscvState, it: Instruction) -> None:
    value = Var(_float(state, it.rs2)) if it.name == "fsw" else state.value(it.rs2)
    if it.rs1 == SP and state.role == ROLE_OTHER:
        state.assign(state.slot(it.immediate), value)
    else:
        state.emit(Store(state.current, _address(state, it), value, STORES.get(it.name, 4)))


def _float(state: RiscvState, number: int) -> str:
    if state.role == ROLE_OTHER:
        raise NotTranscribable("a plain function with floating-point registers")
    return f"F{number}"


def _biased(value: Expr) -> Expr:
    """A signed number as an unsigned one in the same order."""
    return _calculated("^", value, Const(_SIGN))


def _calculated(operator: str, left: Expr, right: Expr) -> Expr:
    """Negative constants as subtractions, constants folded; a move is an addition of 0."""
    if operator in ("+", "|") and left == Const(0):
        return right
    if operator == "+" and isinstance(right, Const) and right.value & _SIGN:
        operator, right = "-", Const(-right.value & _WORD)
    return fold(Binary(operator, left, right))
