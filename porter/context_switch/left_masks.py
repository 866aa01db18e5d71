"""Whether what a handler calls takes a mask and goes on with it: who opens it then?

A guest's handlers take no masks, so where the handler itself opens one, its port has a comment, and
a mask that C has taken would stay. A fast yield holds VCT off by PRIMASK and opens it at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from porter.context_switch.asm_statements import template_of
from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_loops import LOOPS, ends_of
from porter.context_switch.c_nodes import ASM
from porter.context_switch.callees import Callees, Reached
from porter.context_switch.ir import WHY_NESTING, Call, Note
from porter.context_switch.result import NotTranscribable
from porter.context_switch.structure import Node, conditions_and_statements
from porter.registers.intrinsics import (
    BASEPRI_RAISE,
    BASEPRI_WRITE,
    MASK_CLEAR,
    MASK_SET,
    MASK_WRITE,
)
from porter.source.c_tree import Node as CNode
from porter.source.c_tree import ancestors, arguments_of, text_of, walk

_TAKES = re.compile(rb"\bcpsid\w*\s+\w*i", re.IGNORECASE)
_OPENS = re.compile(rb"\bcpsie\w*\s+\w*i", re.IGNORECASE)
_WRITES = {mask: re.compile(rb"\bmsr\w*\s+%s\w*" % mask.encode(), re.IGNORECASE)
           for mask in ("PRIMASK", "BASEPRI")}  # fmt: skip
_WRITERS = {"PRIMASK": MASK_WRITE, "BASEPRI": BASEPRI_WRITE | BASEPRI_RAISE}


def refuse_left_masks(nodes: tuple[Node, ...], units: CUnits, callees: Callees) -> None:
    """NotTranscribable where C takes a mask that the handler opens behind it."""
    items = conditions_and_statements(nodes)
    called = [item.function for item in items if isinstance(item, Call)]
    notes = [item for item in items if isinstance(item, Note) and item.why == WHY_NESTING]
    texts = [text.encode("latin-1", "replace") for note in notes for _, text in note.origin]
    for mask, writes in _WRITES.items():
        opens = any(writes.search(text) or _opens(mask, text) for text in texts)
        if opens and (it := leaving(called, mask, units, callees)) is not None:
            raise NotTranscribable(
                f"{it.road}, which takes {mask} and leaves it to this handler to open: a guest's "
                "handlers don't nest and open no mask; let C open it, or the handler take it"
            )


def leaving(functions: Iterable[str], mask: str, units: CUnits, callees: Callees) -> Reached | None:
    """The function, of these or of what they come to, that takes a mask and goes on, where none
    of them opens it or puts it back."""
    taking = None
    for it in callees.of(functions, unless=_is_the_end):
        text = it.body.assembler
        if _opens(mask, text) or _WRITES[mask].search(text):
            return None
        takes = mask == "PRIMASK" and _TAKES.search(text) is not None
        for node in (node for part in it.body.definitions for node in walk(part)):
            change = _change(node, mask, units)
            if change is False:
                return None
            takes = takes or (change is True and not _is_the_end(node))
        taking = taking or (it if takes else None)
    return taking


def _opens(mask: str, text: bytes) -> bool:
    return mask == "PRIMASK" and _OPENS.search(text) is not None


def _change(node: CNode, mask: str, units: CUnits) -> bool | None:
    """Whether a statement or a call takes a mask; False for one that opens it or may."""
    if node.type in ASM:
        text = template_of(node)
        if _WRITES[mask].search(text):
            given = [it for it in walk(node) if it.type == "gnu_asm_input_operand"]
            return _are_not_zero([it.named_children[-1] for it in given], units)
        if mask == "PRIMASK" and (_OPENS.search(text) or _TAKES.search(text)):
            return _OPENS.search(text) is None
        return None
    callee = node.child_by_field_name("function")
    if node.type != "call_expression" or callee is None:
        return None
    name = text_of(callee).decode("latin-1")
    if name in _WRITERS[mask]:
        return _are_not_zero(arguments_of(node), units)
    if mask == "PRIMASK" and name in MASK_SET | MASK_CLEAR:
        return name in MASK_SET
    return None


def _are_not_zero(values: list[CNode], units: CUnits) -> bool:
    """Whether these are constants, none of them 0."""
    numbers = [units.constant(it, text_of(it).decode("latin-1")) for it in values]
    return bool(numbers) and all(numbers)


def _is_the_end(node: CNode) -> bool:
    """Whether a loop without an end stands behind it, as in an assertion that failed."""
    for around in (node, *ancestors(node)):
        behind = around.next_named_sibling
        while behind is not None:
            if behind.type in LOOPS and not ends_of(behind):
                return True
            behind = behind.next_named_sibling
        if around.type in ("if_statement", "function_definition"):
            return False
    return False
