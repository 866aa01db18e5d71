"""Whether what chooses the next task may only run in a handler, on a frame that a handler saved.

A fast yield runs it in user mode. IPSR is 0 there; PRIMASK holds VCT off until the chosen task's
stack is in use, so nobody may open it or ask for it; and the yielding task's frame has a mark in
place of EXC_RETURN and no exception frame above it, so nobody in the project may look into it.
"""

from __future__ import annotations

import re
from itertools import pairwise

from porter.context_switch.asked_masks import asks_mask
from porter.context_switch.c_flow import CUnits
from porter.context_switch.ir import Call
from porter.context_switch.own_masks import opens_interrupts
from porter.context_switch.pick import Pick
from porter.context_switch.saved_frames import follows_saved
from porter.context_switch.structure import conditions_and_statements
from porter.sites.intrinsics import IN_INTERRUPT
from porter.source.c_tree import Node, ancestors, text_of, walk

_ASM = frozenset({"gnu_asm_expression", "asm_statement"})
_MODE = re.compile(
    rb"\bmrs\w*\s+[^,;\n]+,\s*(?:(?:i|x|ia|ie|ea)psr|control|psp|msp)\b", re.IGNORECASE
)
_ICSR = 0xE000_ED04


def only_in_handler(pick: Pick, units: CUnits) -> str:
    """Why a pick is nothing for a fast yield; "" where nothing is known to say so. What is called
    through pointers isn't looked at."""
    items = conditions_and_statements(pick.nodes)
    called = [item.function.encode() for item in items if isinstance(item, Call)]
    reached = units.reached(called)
    for name, definitions in reached.items():
        if any(map(_asks_mode, definitions)) or _MODE.search(units.assembler_text(name) or b""):
            return f"{name.decode()}(), which choosing a task may call, asks for the handler's mode"
    if opening := opens_interrupts(called, units):
        return f"{opening.decode()}(), which choosing a task may call, opens interrupts"
    if asks := asks_mask(called, "PRIMASK", units):
        return asks
    return follows_saved(pick, units)


def _asks_mode(definition: Node) -> bool:
    """Whether a function reads IPSR, the stack pointers or ICSR itself."""
    for node in walk(definition):
        if node.type in _ASM and _MODE.search(text_of(node)):
            return True
        if node.type == "identifier" and text_of(node).decode("latin-1") in IN_INTERRUPT:
            return True
        if _is_icsr(node) and not _is_written(node):
            return True
    return False


def _is_icsr(node: Node) -> bool:
    if node.type == "number_literal":
        return text_of(node).rstrip(b"uUlL").lower() == b"0xe000ed04"
    return node.type == "field_identifier" and text_of(node) == b"ICSR"


def _is_written(node: Node) -> bool:
    """Whether a register stands left of an assignment."""
    for inner, outer in pairwise([node, *ancestors(node)]):
        if outer.type == "assignment_expression":
            return outer.child_by_field_name("left") == inner
        if outer.type.endswith("statement"):
            return False
    return False
