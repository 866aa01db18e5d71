"""Whether what a handler calls asks for a mask that the handler took: its port takes none.

Handlers of a guest don't nest, so masks in them become comments, and C that asks whether the lock
is taken would find it open, and so would C elsewhere that finds what such C kept of it. What only
puts back what it found may find anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import function_name
from porter.context_switch.ir import WHY_NESTING, Call, Note
from porter.context_switch.machine import Masks
from porter.context_switch.mask_reads import readings
from porter.context_switch.own_masks import ASM, opens_interrupts
from porter.context_switch.result import NotTranscribable
from porter.context_switch.structure import Node, conditions_and_statements
from porter.registers.intrinsics import (
    BASEPRI_RAISE,
    BASEPRI_WRITE,
    MASK_CLEAR,
    MASK_WRITE,
)
from porter.source.c_tree import Node as CNode
from porter.source.c_tree import ancestors, enclosing_function, one_line, text_of

_WRITERS = MASK_WRITE | BASEPRI_WRITE | BASEPRI_RAISE
_WRITES = re.compile(rb"\bmsr\w*\s+(?:primask|basepri\w*)|\bcsr[wsc]+i?\s+mstatus", re.IGNORECASE)
_OPENS = re.compile(rb"\bcpsie\b|\bcsrsi?\s+mstatus", re.IGNORECASE)
_ALIAS = re.compile(rb"\b_*(?:alias|ifunc)_*\s*\(")
_CALCULATES = frozenset({"binary_expression", "unary_expression"})


def refuse_questions(nodes: tuple[Node, ...], units: CUnits, masks: Masks) -> None:
    """NotTranscribable where C or assembler that a handler calls asks for its mask. `masks`: as
    the machine has them."""
    items = conditions_and_statements(nodes)
    called = [item.function.encode() for item in items if isinstance(item, Call)]
    notes = [item for item in items if isinstance(item, Note) and item.why == WHY_NESTING]
    texts = [text for note in notes for _, text in note.origin]
    taken = [mask for mask, takes in masks.items() if takes and any(map(takes.search, texts))]
    for name, definitions in units.reached(called).items() if taken else ():
        if not definitions and (where := _elsewhere(name, units)):
            raise NotTranscribable(
                f"holds interrupts off around {name.decode('latin-1')}(), {where}: does it ask for "
                f"{taken[0]}? Define it in C, under this name"
            )
    for mask in [mask for mask, takes in masks.items() if takes is None or mask in taken]:
        if asks := asks_mask(called, mask, units):
            raise NotTranscribable(
                f"{asks}: on the machine this handler holds interrupts off there, a guest's "
                "handlers don't nest and take no mask; don't let it ask"
            )


def _elsewhere(name: bytes, units: CUnits) -> str:
    """Where a function is defined that isn't read: under another name, or in C++."""
    for node in units.named(name):
        declaration = next((it for it in ancestors(node) if it.type == "declaration"), None)
        if declaration is not None and _ALIAS.search(text_of(declaration)):
            return "an alias"
    found = units.in_cplusplus([name])
    return f"which {found[0]} names, C++" if found else ""


def asks_mask(functions: Iterable[bytes], mask: str, units: CUnits) -> str:
    """Which of these functions, or of those they call, asks what a mask is; "" where none does
    more than to put back what it found."""
    reached = units.reached(functions)
    inside = {definition.id for definitions in reached.values() for definition in definitions}
    starts: list[CNode] = []
    kept: list[CNode] = []
    for name in reached:
        own, others = readings(name, mask, units)
        starts += own
        kept += others
    ends = []
    for node, parent, further in _steps(starts, units):
        around = enclosing_function(node)
        if around is None or around.id not in inside:
            continue  # another one that calls what these call: it has another mask
        if further is None:
            ends.append((node, parent))
        elif parent.type == "assignment_expression":
            kept += units.outlives(parent)
    ends += [(node, parent) for node, parent, further in _steps(kept, units) if further is None]
    for node, parent in ends:
        around = enclosing_function(node)
        if around is not None and not _puts_back(parent, units):
            return f"{function_name(around).decode()}() asks for {mask}, '{one_line(parent)}'"
    return ""


def _steps(starts: list[CNode], units: CUnits) -> Iterator[tuple[CNode, CNode, list[CNode] | None]]:
    """Where values go that come from these, also by calculating; as CUnits.steps()."""
    waiting, seen = list(starts), set[int]()
    while waiting:
        steps, waiting = list(units.steps(waiting)), []
        for node, parent, further in steps:
            if further is not None or parent.type not in _CALCULATES:
                if parent.type != "expression_statement":
                    yield node, parent, further
            elif parent.id not in seen:
                seen.add(parent.id)
                waiting.append(parent)


def _puts_back(parent: CNode, units: CUnits) -> bool:
    """Whether what is around a value writes the mask, or opens it if that is what it was."""
    if parent.type == "gnu_asm_input_operand":
        whole = next(it for it in ancestors(parent) if it.type in ASM)
        return _WRITES.search(text_of(whole)) is not None
    if parent.type == "argument_list" and parent.parent is not None:
        name = text_of(parent.parent.child_by_field_name("function") or parent)
        text = units.assembler_text(name) or b""
        return name.decode("latin-1") in _WRITERS or _WRITES.search(text) is not None
    if parent.type != "if_statement" or parent.child_by_field_name("alternative") is not None:
        return False
    body = parent.child_by_field_name("consequence")
    if body is None:
        return False
    statements = body.named_children if body.type == "compound_statement" else [body]
    return all(_only_opens(it, units) for it in statements)


def _only_opens(statement: CNode, units: CUnits) -> bool:
    inner = statement.named_children[0] if statement.named_child_count else statement
    if inner.type in ASM:
        return _OPENS.search(text_of(inner)) is not None
    callee = inner.child_by_field_name("function")
    if inner.type != "call_expression" or callee is None:
        return False
    name = text_of(callee)
    return name.decode("latin-1") in MASK_CLEAR or opens_interrupts([name], units) == name
