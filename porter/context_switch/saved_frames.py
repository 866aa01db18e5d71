"""Whether C of a project follows a saved stack pointer, to a frame that a handler put there.

A task that yielded in user mode has a mark in place of EXC_RETURN and no exception frame above it.
A result that somebody writes to its r0, or its pc in a monitor, would be something else there.
What a new task's frame is made of doesn't count: its stack pointer is saved only then. Nor does
what starts the first task with it: no task has yielded by then.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import calculation, function_name, is_changed_by_asm
from porter.context_switch.pick import Pick
from porter.context_switch.saved_words import saved_words
from porter.source.c_tree import Node, ancestors, enclosing_function, one_line, text_of

_DISTANCES = (b"-", b"/", b"%")  # what is no pointer any more
_KEEPS = frozenset({"argument_list", "assignment_expression"})
_HANDS_ON = frozenset({"argument_list", "update_expression", "initializer_list",
                       "initializer_pair", "pointer_expression"})  # fmt: skip
_ACCESS = re.compile(rb"\b(?:ld|st)[rm]\w*\s", re.IGNORECASE)


def follows_saved(pick: Pick, units: CUnits, starts: Callable[[str], bool]) -> str:
    """Which function does, and where; "" where none is known. `starts`: whether a function that
    isn't C starts the first task."""
    for node, parent in _followed(saved_words(pick, units), units):
        around = enclosing_function(node)
        if around is not None and not _is_start(parent, starts):
            name = function_name(around).decode()
            return f"{name}() looks into saved frames: '{one_line(parent)}'"
    return ""


def _followed(starts: Iterable[Node], units: CUnits) -> Iterator[tuple[Node, Node]]:
    """Where a stack pointer is followed, or handed to somebody who may do that. A distance of two
    pointers may be handed to anybody."""
    waiting, distances, seen = list(starts), list[Node](), set[int]()
    while waiting or distances:
        ends = [(*end, False) for end in units.ends(waiting)]
        ends += [(*end, True) for end in units.ends(distances)]
        waiting, distances = [], []
        for node, parent, is_distance in ends:
            if (sign := calculation(parent)) is not None:
                if parent.id not in seen:
                    seen.add(parent.id)
                    (distances if is_distance or sign in _DISTANCES else waiting).append(parent)
            elif is_distance and parent.type == "subscript_expression":
                if parent.child_by_field_name("argument") == node:
                    yield node, parent
            elif _looks_into(node, parent) and not (is_distance and parent.type in _KEEPS):
                yield node, parent


def _is_start(arguments: Node, starts: Callable[[str], bool]) -> bool:
    call = arguments.parent if arguments.type == "argument_list" else None
    callee = call.child_by_field_name("function") if call is not None else None
    if callee is None or callee.type != "identifier":
        return False
    return starts(text_of(callee).decode("latin-1"))


def _looks_into(node: Node, parent: Node) -> bool:
    if parent.type == "subscript_expression":  # what is its index has no other base than a number
        return True
    if parent.type == "field_expression":
        return parent.child_by_field_name("argument") == node
    if parent.type == "gnu_asm_input_operand" or is_changed_by_asm(parent):
        whole = next(it for it in ancestors(parent) if it.type == "gnu_asm_expression")
        return _ACCESS.search(text_of(whole)) is not None
    if parent.type == "assignment_expression":  # to a place that a pointer leads to
        return parent.child_by_field_name("right") == node
    return parent.type in _HANDS_ON
