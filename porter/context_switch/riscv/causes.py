"""Which causes a trap handler of RV32 asks for, itself and in the C that gets mcause.

`virt_cause()` says 11 for a supervisor call and a requested switch, 0x80000007 for the tick and
0x8000000B for every interrupt of the description. A handler that waits for others would take each
of these for something else. Faults are the kernel's: what is asked of them never comes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from porter.context_switch.c_flow import CUnits
from porter.context_switch.ir import Assign, Binary, Call, Condition, Const
from porter.context_switch.result import ANY_TRAP, NotTranscribable
from porter.context_switch.structure import Node, conditions_and_statements
from porter.context_switch.walk import reads, subexpressions, variables
from porter.source.c_tree import Node as CNode
from porter.source.c_tree import ancestors, index_of, one_line, text_of, walk

CALL = 11  # an ecall of machine mode
_BREAKPOINT, _USER_CALL = 3, 8  # Privileged Architecture 1.12, table 3.6
_PLATFORM = 16  # interrupts from here on are the platform's
_NUMBER = 0x7FFF_FFFF
_EQUAL = ("==", "!=")
_COMPARISONS = frozenset(b"== != < > <= >= ! && ||".split())
_DECIDES = frozenset({"if_statement", "while_statement", "conditional_expression",
                      "switch_statement", "for_statement", "do_statement"})  # fmt: skip
_PARTS = frozenset({"field_expression", "parenthesized_expression", "pointer_expression",
                    "subscript_expression"})  # fmt: skip


def refuse_causes(nodes: tuple[Node, ...], units: CUnits) -> None:
    """NotTranscribable where a cause is asked that a guest has under another number."""
    asked = {number & _NUMBER for number in _asked(nodes, units)}
    other = sorted(number for number in asked if number >= _PLATFORM)
    if other:
        raise NotTranscribable(
            f"asks for the cause {other[0]}: a guest's interrupts all have the cause 0x8000000B. "
            "Let each have a handler of its own (virt_vct_set), or ask for no number",
            ANY_TRAP,
        )
    calls = sorted(asked & {_BREAKPOINT, _USER_CALL})
    if calls and CALL not in asked:
        raise NotTranscribable(
            f"asks for the cause {calls[0]} and not for {CALL}, which is a guest's for supervisor "
            f"calls: ask for {CALL} too",
            ANY_TRAP,
        )


def _asked(nodes: tuple[Node, ...], units: CUnits) -> Iterator[int]:
    items = conditions_and_statements(nodes)
    causes = {"MCAUSE"}
    starts: list[CNode] = []
    for item in items:
        if isinstance(item, Assign) and variables(item.value) & causes:
            causes.add(item.target)
        for expr in (part for read in reads(item) for part in subexpressions(read)):
            if not isinstance(expr, Binary | Condition):
                continue
            for one, other in ((expr.left, expr.right), (expr.right, expr.left)):
                if isinstance(other, Const) and _is_equality(expr) and variables(one) & causes:
                    yield other.value
        if isinstance(item, Call):
            for place, argument in enumerate(item.arguments):
                if variables(argument) & causes:
                    starts += units.parameter_uses(item.function.encode(), place)
    yield from _in_c(starts, units)


def _is_equality(expr: Binary | Condition) -> bool:
    return expr.operator in _EQUAL if isinstance(expr, Binary) else expr.code in ("eq", "ne")


def _in_c(
    starts: Iterable[CNode], units: CUnits, seen: frozenset[int] = frozenset()
) -> Iterator[int]:
    """Numbers that values are compared with, parts of them too."""
    parts: list[CNode] = []
    for node, parent in units.ends(starts):
        sign = text_of(parent.child_by_field_name("operator") or parent)
        is_left = parent.child_by_field_name("left") == node
        if _is_called(node, parent):
            raise _unreadable("calls what it finds by the cause", parent)
        if parent.type == "switch_statement":
            labels = (it for it in walk(parent) if it.type == "case_statement")
            yield from _numbers((it.child_by_field_name("value") for it in labels), units)
        elif parent.type == "binary_expression" and sign in (b"==", b"!="):
            sides = (parent.child_by_field_name(side) for side in ("left", "right"))
            yield from _numbers((side for side in sides if side != node), units)
        elif parent.type == "binary_expression" and (
            sign == b"&" or (is_left and sign in (b"<<", b">>"))
        ):
            parts += [parent] if parent.id not in seen else []
        elif (asked := _decided(parent, units)) is not None:
            raise _unreadable("calculates with the cause", asked)
    if parts:
        yield from _in_c(parts, units, seen | {node.id for node in parts})


def _is_called(index: CNode, element: CNode) -> bool:
    """Whether a table's element of a number, or a member of it, is a function that is called."""
    if element.type != "subscript_expression" or index_of(element) != index:
        return False
    around = (it for it in ancestors(element) if it.type not in _PARTS)
    outer = next(around, None)
    callee = outer.child_by_field_name("function") if outer is not None else None
    return callee is not None and callee.start_byte <= element.start_byte < callee.end_byte


def _decided(calculation: CNode, units: CUnits, seen: frozenset[int] = frozenset()) -> CNode | None:
    """What is decided by the value of an expression that calculates; None for nothing."""
    sign = text_of(calculation.child_by_field_name("operator") or calculation)
    calculates = calculation.type in ("binary_expression", "unary_expression")
    if not calculates or sign in _COMPARISONS or calculation.id in seen:
        return None
    for node, parent in units.ends([calculation]):
        is_asked = text_of(parent.child_by_field_name("operator") or parent) in _COMPARISONS
        if is_asked or parent.type in _DECIDES or _is_called(node, parent):
            return parent
        if (further := _decided(parent, units, seen | {calculation.id})) is not None:
            return further
    return None


def _unreadable(what: str, node: CNode) -> NotTranscribable:
    return NotTranscribable(
        f"{what}, '{one_line(node)}': a guest's calls have {CALL}, its tick 0x80000007, and every "
        "interrupt 0x8000000B. Ask for these with == or a switch",
        ANY_TRAP,
    )


def _numbers(expressions: Iterable[CNode | None], units: CUnits) -> Iterator[int]:
    for node in expressions:
        if node is not None:
            value = units.constant(node, text_of(node).decode("latin-1"))
            yield from () if value is None else (value,)
