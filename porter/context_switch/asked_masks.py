"""Whether what a handler calls asks for a mask that the handler took: its port takes none.

Handlers of a guest don't nest, so masks in them become comments, and C that asks whether the lock
is taken would find it open, and so would C elsewhere that finds what such C kept of it. What only
puts back what it found may find anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.context_switch.asm_statements import template_of
from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import ASM, function_name
from porter.context_switch.callees import Callees, Reached
from porter.context_switch.ir import WHY_NESTING, Call, Note
from porter.context_switch.machine import Masks
from porter.context_switch.mask_reads import MSTATUS, asks_in_assembler, readings, reads_in_text
from porter.context_switch.own_masks import opens_interrupts
from porter.context_switch.result import NotTranscribable
from porter.context_switch.structure import Node, conditions_and_statements
from porter.registers.intrinsics import (
    BASEPRI_RAISE,
    BASEPRI_WRITE,
    MASK_CLEAR,
    MASK_WRITE,
)
from porter.source.c_tree import Node as CNode
from porter.source.c_tree import (
    ancestors,
    enclosing_function,
    one_line,
    outermost,
    text_of,
    walk,
)
from porter.source.truth import binary

_WRITERS = MASK_WRITE | BASEPRI_WRITE | BASEPRI_RAISE
_WRITES = re.compile(
    rb"\bmsr\w*\s+(?:primask|basepri\w*)|\bcsr[wsc]+i?\s+%s\b" % MSTATUS, re.IGNORECASE
)
_OPENS = re.compile(rb"\bcpsie\b|\bcsrsi?\s+%s\b" % MSTATUS, re.IGNORECASE)
_CALCULATES = frozenset({"binary_expression", "unary_expression"})
_DOES = ASM | {"call_expression", "assignment_expression", "update_expression"}


def refuse_questions(
    nodes: tuple[Node, ...], units: CUnits, callees: Callees, masks: Masks
) -> None:
    """NotTranscribable where C or assembler that a handler calls asks for its mask. `masks`: as
    the machine has them."""
    items = conditions_and_statements(nodes)
    reached = list(callees.of(item.function for item in items if isinstance(item, Call)))
    notes = [item for item in items if isinstance(item, Note) and item.why == WHY_NESTING]
    texts = [text for note in notes for _, text in note.origin]
    taken = [mask for mask, takes in masks.items() if takes and any(map(takes.search, texts))]
    asked = [mask for mask, takes in masks.items() if takes is None or mask in taken]
    for mask in asked:
        readers = _read(reached, mask, units)[2]
        for it in reached:
            if where := _elsewhere(it, mask, bool(readers), mask in taken):
                raise NotTranscribable(
                    f"holds interrupts off and {it.road}, {where}: does it ask for {mask}? Define "
                    "it in C, under this name"
                )
        if asks := asks_mask(reached, mask, units, callees):
            raise NotTranscribable(
                f"{asks}: on the machine this handler holds interrupts off there, a guest's "
                "handlers don't nest and take no mask; don't let it ask"
            )


def _elsewhere(it: Reached, mask: str, is_read: bool, is_taken: bool) -> str:
    """Where a function is defined so that what it returns isn't followed: under another name, where
    anybody reads the mask, or in C++, where it may itself."""
    if it.body.is_alias:
        return "an alias" if is_read else ""
    if it.body.cplusplus is None:
        return ""
    text = it.body.cplusplus.text.lower()
    may_read = is_taken or is_read or mask.lower().encode() in text
    return f"which {it.body.cplusplus.file.name} names, C++" if may_read else ""


def _read(
    reached: list[Reached], mask: str, units: CUnits
) -> tuple[list[CNode], list[CNode], set[str]]:
    """Expressions that have what these read of a mask, as readings() has them, and who reads it."""
    starts: list[CNode] = []
    kept: list[CNode] = []
    readers = set()
    for it in reached:
        own, others = readings(it.name.encode("latin-1"), it.body.assembler, mask, units)
        starts += own
        kept += others
        readers |= {it.name} if own or others or reads_in_text(it, mask) else set()
    return starts, kept, readers


def asks_mask(reached: list[Reached], mask: str, units: CUnits, callees: Callees) -> str:
    """Which of these functions asks what a mask is; "" where none does more than to put back what
    it found."""
    inside = {definition.id: it for it in reached for definition in it.body.definitions}
    starts, kept, readers = _read(reached, mask, units)
    for it in reached:
        if asks_in_assembler(it, mask, readers & callees.names_in(it.name)):
            return f"{it.road}, which asks for {mask} in assembler"
    ends = []
    for node, parent, further in _in_any_way(starts, readers, reached, units, callees):
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
        if around is not None and not _puts_back(parent, units, callees):
            name = function_name(around).decode("latin-1")
            caller = inside.get(around.id)
            who = caller.road if caller is not None else f"keeps {mask} for {name}()"
            return f"{who}, which asks for {mask}, '{one_line(parent)}'"
    return ""


def _in_any_way(
    starts: list[CNode],
    readers: set[str],
    reached: list[Reached],
    units: CUnits,
    callees: Callees,
) -> Iterator[tuple[CNode, CNode, list[CNode] | None]]:
    """As _steps(), and from calls through pointers that may come to who returns such a value."""
    returning, seen = set(readers), set[str]()
    while starts or returning - seen:
        for node, parent, further in _steps(starts, units):
            around = enclosing_function(node) if parent.type == "return_statement" else None
            if around is not None:
                returning.add(function_name(around).decode("latin-1"))
            yield node, parent, further
        definitions = [part for it in reached for part in it.body.definitions]
        new, seen = returning - seen, set(returning)
        starts = [call for part in definitions for call in callees.by_pointers(new, part)]


def _steps(starts: list[CNode], units: CUnits) -> Iterator[tuple[CNode, CNode, list[CNode] | None]]:
    """Where values go that come from these, also by calculating; as CUnits.steps()."""
    waiting, seen = list(starts), set[int]()
    while waiting:
        steps, waiting = list(units.steps(waiting)), []
        for node, parent, further in steps:
            decides = binary(parent, b"&&", b"||") is not None and not _only_for_if(parent)
            if further is not None or parent.type not in _CALCULATES or decides:
                if parent.type != "expression_statement":
                    yield node, parent, further
            elif parent.id not in seen:
                seen.add(parent.id)
                waiting.append(parent)


def _only_for_if(logic: CNode) -> bool:
    """Whether all that `&&` or `||` decides is an if statement, by more conditions that do nothing:
    what such a statement does is looked at."""
    whole = outermost(logic)
    while whole.parent is not None and whole.parent.type in _CALCULATES:
        whole = outermost(whole.parent)
    if whole.parent is None or whole.parent.type != "if_statement":
        return False
    pairs = (sides for it in walk(whole) if (sides := binary(it, b"&&", b"||")) is not None)
    return all(it.type not in _DOES for _, right in pairs for it in walk(right))


def _puts_back(parent: CNode, units: CUnits, callees: Callees) -> bool:
    """Whether what is around a value writes the mask, or opens it if that is what it was."""
    if parent.type == "gnu_asm_input_operand":
        whole = next(it for it in ancestors(parent) if it.type in ASM)
        return _WRITES.search(template_of(whole)) is not None
    if parent.type == "argument_list" and parent.parent is not None:
        called = callees.by(parent.parent)
        texts = ((it, units.assembler_text(it.encode("latin-1")) or b"") for it in called)
        return bool(called) and all(it in _WRITERS or _WRITES.search(text) for it, text in texts)
    if parent.type != "if_statement" or parent.child_by_field_name("alternative") is not None:
        return False
    body = parent.child_by_field_name("consequence")
    if body is None:
        return False
    statements = body.named_children if body.type == "compound_statement" else [body]
    return all(_only_opens(it, units, callees) for it in statements)


def _only_opens(statement: CNode, units: CUnits, callees: Callees) -> bool:
    inner = statement.named_children[0] if statement.named_child_count else statement
    if inner.type in ASM:
        return _OPENS.search(template_of(inner)) is not None
    callee = inner.child_by_field_name("function")
    if inner.type != "call_expression" or callee is None:
        return False
    name = text_of(callee).decode("latin-1")
    return name in MASK_CLEAR or opens_interrupts([name], units, callees) == name
