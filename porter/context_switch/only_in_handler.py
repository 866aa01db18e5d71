"""Whether what chooses the next task may only run in a handler, on a frame that a handler saved.

A fast yield runs it in user mode. PRIMASK holds VCT off until the chosen task's stack is in use, so
nobody may open it or ask for it. Where the guest library switches itself, nobody may ask whether he
is in a handler, and the yielding task's frame has a mark in place of EXC_RETURN and no exception
frame above it, so nobody in the project may look into it.
"""

from __future__ import annotations

from itertools import pairwise

from porter.context_switch.asked_masks import asks_mask
from porter.context_switch.c_flow import CUnits
from porter.context_switch.callees import Callees
from porter.context_switch.ir import Call, Guest
from porter.context_switch.left_masks import leaving
from porter.context_switch.own_masks import opens_interrupts
from porter.context_switch.pick import Pick
from porter.context_switch.resumers import Resumers
from porter.context_switch.saved_frames import follows_saved
from porter.context_switch.structure import Node, conditions_and_statements
from porter.context_switch.understood import not_understood
from porter.source.c_tree import Node as CNode
from porter.source.c_tree import ancestors, text_of, walk


def only_in_handler(pick: Pick, units: CUnits, callees: Callees, resumers: Resumers) -> str:
    """Why a pick is nothing for a fast yield; "" where all that it may do is known and harmless."""
    if why := may_not_choose(pick.nodes, units, callees):
        return why
    called = [it.function for it in conditions_and_statements(pick.nodes) if isinstance(it, Call)]
    for it in callees.of(called):
        if any(map(_reads_icsr, it.body.definitions)):
            return f"{it.name}(), which choosing a task may call, asks for the handler's mode"
    for file, name in units.unread_functions():
        return f"{name.decode('latin-1')}() of {file.name} can't be read: does it look into frames?"
    if followed := follows_saved(pick, units, resumers.starts):
        return followed
    return not_read(pick.nodes, units, callees, resumers)


def not_read(nodes: tuple[Node, ...], units: CUnits, callees: Callees, resumers: Resumers) -> str:
    """What choosing the next task may do that nobody can tell."""
    items = conditions_and_statements(nodes)
    called = [item.function for item in items if isinstance(item, Call)]
    return not_understood(called, units, callees, resumers.calculates)


def may_not_choose(nodes: tuple[Node, ...], units: CUnits, callees: Callees) -> str:
    """Why these nodes, or what they call, may run in VCT alone, whatever frames are like."""
    items = conditions_and_statements(nodes)
    if any(isinstance(item, Guest) and "VIRT_PRIMASK" in item.arguments for item in items):
        return "choosing the next task writes PRIMASK"
    called = [item.function for item in items if isinstance(item, Call)]
    if opening := opens_interrupts(called, units, callees):
        return f"{opening}(), which choosing a task may call, opens interrupts"
    if (left := leaving(called, "PRIMASK", units, callees)) is not None:
        return f"{left.name}(), which choosing a task may call, leaves interrupts off"
    if asks := asks_mask(list(callees.of(called)), "PRIMASK", units, callees):
        return asks
    return ""


def _reads_icsr(definition: CNode) -> bool:
    return any(_is_icsr(node) and not _is_written(node) for node in walk(definition))


def _is_icsr(node: CNode) -> bool:
    if node.type == "number_literal":
        return text_of(node).rstrip(b"uUlL").lower() == b"0xe000ed04"
    return node.type == "field_identifier" and text_of(node) == b"ICSR"


def _is_written(node: CNode) -> bool:
    """Whether a register stands left of an assignment."""
    for inner, outer in pairwise([node, *ancestors(node)]):
        if outer.type == "assignment_expression":
            return outer.child_by_field_name("left") == inner
        if outer.type.endswith("statement"):
            return False
    return False
