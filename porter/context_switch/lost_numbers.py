"""Numbers of which a machine has only whether they are zero: the exception's, a mask's level.

IPSR becomes virt_in_vct(), BASEPRI virt_int_level(): 0 or not. The proof takes them for words like
any other. Where a function returns one, the project's C says whether more than zero or not matters.
"""

from __future__ import annotations

from porter.context_switch.c_flow import CUnits
from porter.context_switch.held_masks import STORE
from porter.context_switch.ir import (
    Assign,
    Binary,
    Branch,
    Call,
    Condition,
    Const,
    Exit,
    Expr,
    Guest,
    LeadingZeros,
    Load,
    Store,
    Symbol,
)
from porter.context_switch.mask_reads import readings
from porter.context_switch.result import NotTranscribable
from porter.context_switch.structure import Node, conditions_and_statements
from porter.context_switch.walk import reads, subexpressions, used, variables
from porter.registers.intrinsics import BASEPRI_RAISE, BASEPRI_WRITE
from porter.source.c_tree import Node as CNode
from porter.source.c_tree import one_line, outermost, text_of
from porter.source.truth import asks_truth, binary

_WHAT = {
    "IPSR": "the number of the interrupt",
    "BASEPRI": "the level of BASEPRI",
}
_BECOMES = {"IPSR": "virt_in_vct()", "BASEPRI": "virt_int_level(VIRT_BASEPRI)"}
_RESTORES = ("virt_int_restore", STORE)
_COMPUTES = frozenset(
    {"binary_expression", "unary_expression", "subscript_expression", "switch_statement"}
)
_WRITES = BASEPRI_WRITE | BASEPRI_RAISE


class NumberMatters(NotTranscribable):
    """Nobody else may port such a function either."""


def asks_exception(nodes: tuple[Node, ...]) -> bool:
    """Whether a function reads IPSR."""
    return any("IPSR" in used(item) for item in conditions_and_statements(nodes))


def refuse_numbers(name: str, nodes: tuple[Node, ...], units: CUnits) -> None:
    """NumberMatters where more than zero or not is asked of IPSR or BASEPRI in a plain function, or
    in the C that gets it."""
    for register in _WHAT:
        why = _in_function(name, nodes, register, units)
        if not why and register == "IPSR" and asks_exception(nodes):
            why = _in_cplusplus(name, nodes, units)
        if why:
            raise NumberMatters(
                f"{_WHAT[register]} matters, {why}: a machine has {_BECOMES[register]}, 0 or 1; "
                "ask only whether it is 0"
            )


def level_compared(function: str, units: CUnits) -> str:
    """Which C compares the level of BASEPRI that a C function read, or computes with it, here or
    wherever it hands it; "" for none. What is only kept, shown or written back may be 0 or 1."""
    name = function.encode("latin-1")
    starts, kept = readings(name, units.assembler_text(name) or b"", "BASEPRI", units)
    for node, parent in units.ends([*starts, *kept]):
        if parent.type in _COMPUTES and not _is_harmless(node, parent, "BASEPRI", units):
            return one_line(parent)
    return ""


def _in_cplusplus(name: str, nodes: tuple[Node, ...], units: CUnits) -> str:
    """Why nobody knows what becomes of a number that a function returns."""
    items = conditions_and_statements(nodes)
    returned = any(isinstance(it, Exit) and it.value is not None for it in items)
    found = units.in_cplusplus([name.encode()]) if returned else None
    return f"{found[0]} is C++ and has {name}: what is done with it there" if found else ""


def _in_function(name: str, nodes: tuple[Node, ...], register: str, units: CUnits) -> str:
    items = conditions_and_statements(nodes)
    holding = {register}
    for _ in items:
        holding |= {
            it.target for it in items if isinstance(it, Assign) and variables(it.value) & holding
        }
    if any(_calculates(part, holding) for it in items for expr in reads(it)
           for part in subexpressions(expr)):  # fmt: skip
        return "it is calculated with"
    starts: list[CNode] = []
    for item in items:
        match item:
            case Branch(condition=condition) if not _asks_zero(condition, holding):
                return "a condition compares it"
            case Store(address=address, value=value) if variables(value) & holding:
                if not isinstance(address, Symbol):
                    return "it is kept where nobody can follow it"
                starts += units.reads(address.name.encode())
            case Call(function=function, arguments=arguments):
                for place, argument in enumerate(arguments):
                    if variables(argument) & holding:
                        starts += units.parameter_uses(function.encode(), place)
            case Guest(function=function) if function in _RESTORES and register == "BASEPRI":
                pass
            case Guest(arguments=arguments) if any(
                isinstance(it, Expr) and variables(it) & holding for it in arguments
            ):
                return "another register gets it"
            case Exit(value=Expr() as value) if variables(value) & holding:
                starts += units.calls(name.encode())
    for node, parent in units.ends(starts):
        if not _is_harmless(node, parent, register, units):
            return f"C has '{one_line(parent)}'"
    return ""


def _calculates(expr: Expr, holding: set[str]) -> bool:
    """Whether an expression makes more of a value than a question whether it is 0: a mask with bit
    0 and a shift to the left leave of 0 and 1 what they leave of others."""
    match expr:
        case Binary("&", _, Const(mask)) if mask & 1:
            return False
        case Binary("<<", _, Const()):
            return False
        case Binary() | LeadingZeros() | Load():
            return bool(variables(expr) & holding)
    return False


def _asks_zero(condition: Expr, holding: set[str]) -> bool:
    if not isinstance(condition, Condition):
        return not variables(condition) & holding
    if not variables(condition) & holding:
        return True
    return condition.code in ("eq", "ne") and Const(0) in (condition.left, condition.right)


def _is_harmless(node: CNode, parent: CNode, register: str, units: CUnits) -> bool:
    """Whether zero or not is all that counts."""
    if asks_truth(node, parent, _number):
        return True
    if parent.type == "sizeof_expression":
        return True
    if parent.type == "gnu_asm_input_operand":
        return register == "BASEPRI"  # an instruction of the port's, or one that is looked at
    if parent.type == "argument_list":
        callee = parent.parent.child_by_field_name("function") if parent.parent else None
        name = text_of(callee) if callee is not None else b""
        is_looked_at = units.assembler_text(name) is not None or name.decode("latin-1") in _WRITES
        return register == "BASEPRI" and is_looked_at
    sides = binary(parent, b"&")
    mask = None if sides is None else _number(sides[1] if sides[0] == node else sides[0])
    if mask is None or not mask & 1:
        return False
    outer = outermost(parent)
    return outer.parent is not None and _is_harmless(outer, outer.parent, register, units)


def _number(node: CNode) -> int | None:
    """A number, whatever casts and parentheses are around it."""
    while node.type in ("parenthesized_expression", "cast_expression"):
        node = node.child_by_field_name("value") or node.named_children[-1]
    if node.type != "number_literal":
        return None
    try:
        return int(text_of(node).rstrip(b"uUlL"), 0)
    except ValueError:
        return None
