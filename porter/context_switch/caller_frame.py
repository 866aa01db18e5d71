"""Whether the C of a supervisor call's handler answers its caller, by writing to his frame.

`virt_svc_frame()` is a copy. What is read there is right; a result that is written there is lost.
So is one that somebody writes to the frame of a task that waits for it behind a request of the
switch: a guest's task is in `virt_yield()` there.
"""

from __future__ import annotations

import re

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import function_name
from porter.context_switch.ir import FRAME_OF_CALLER, Assign, Call, Guest, Store
from porter.context_switch.result import DISPATCHES, NotTranscribable
from porter.context_switch.structure import Node, conditions_and_statements
from porter.context_switch.walk import variables
from porter.source.c_tree import Node as CNode
from porter.source.c_tree import enclosing_function, one_line, outermost, text_of

_SETS_R0 = re.compile(
    r"blx?\b|(?:pop|ldm)\b.*\br0\b"
    r"|(?!st|cm[pn]|t(?:st|eq)|msr|push|cb|b[lx]*\b)\w+(?:\.\w)?\s+r0\b",
    re.IGNORECASE,
)
_PC = 6  # behind r0-r3, r12 and lr
_PLACES = ("subscript_expression", "pointer_expression", "field_expression")


_LOST = (
    "its caller's frame, of which a guest has a copy: the caller would never see it. Let the "
    "caller call C instead"
)


def refuse_answers(nodes: tuple[Node, ...], units: CUnits) -> None:
    """NotTranscribable where the handler, or C that gets the frame, writes to it."""
    items = conditions_and_statements(nodes)
    frames: set[str] = set()
    starts: list[CNode] = []
    for item in items:
        if isinstance(item, Guest) and item.function == FRAME_OF_CALLER and item.result:
            frames.add(item.result)
        elif isinstance(item, Assign) and variables(item.value) & frames:
            frames.add(item.target)
        elif isinstance(item, Store) and variables(item.address) & frames:
            raise NotTranscribable(f"writes to {_LOST}", DISPATCHES)
        elif isinstance(item, Call):
            for place, argument in enumerate(item.arguments):
                if variables(argument) & frames:
                    starts += units.parameter_uses(item.function.encode(), place)
    for written in _written(starts, units):
        raise NotTranscribable(
            f"{name_of(written)}() writes '{one_line(written)}' to {_LOST}", DISPATCHES
        )
    for read in words_read(starts, units, range(_PC)):
        raise NotTranscribable(
            f"{name_of(read)}() reads '{one_line(read)}', a register of its caller: arguments of "
            "a supervisor call don't come that way. Let the caller call C instead",
            DISPATCHES,
        )


def name_of(node: CNode) -> str:
    """The function around a place."""
    around = enclosing_function(node)
    return function_name(around).decode() if around is not None else "a function"


def refuse_lost_result(nodes: tuple[Node, ...], texts: dict[int, str]) -> None:
    """NotTranscribable where a function with a result, whose instructions are `texts` by address,
    requests a switch and sets r0 no more: then it is the frame's."""
    requests = [
        item.origin[-1][0]
        for item in conditions_and_statements(nodes)
        if isinstance(item, Guest) and item.function == "virt_yield" and item.origin
    ]
    if not requests:
        return
    behind = [text for address, text in texts.items() if address > max(requests)]
    if not any(map(_SETS_R0.match, behind)):
        raise NotTranscribable(
            "returns what r0 holds when it goes on behind its request of the switch; what others "
            "leave there in the task's frame is lost in a guest. Let it return a word of the task's"
        )


def words_read(starts: list[CNode], units: CUnits, words: range) -> list[CNode]:
    """Reads of some words behind pointers with one of these values."""
    found = []
    for node, parent in units.ends(starts):
        index = parent.child_by_field_name("index")
        if index is not None and index != node:
            place = units.constant(parent, text_of(index).decode("latin-1"))
            found += [parent] if place in words else []
        elif parent.type == "pointer_expression" and text_of(parent).startswith(b"*"):
            found += [parent] if 0 in words else []
    return found


def _written(starts: list[CNode], units: CUnits) -> list[CNode]:
    """Assignments to what pointers with one of these values point to."""
    found = []
    for node, parent in units.ends(starts):
        if parent.type == "binary_expression":
            found += _written([parent], units)
        elif parent.type in _PLACES and parent.child_by_field_name("argument") == node:
            place = outermost(parent)
            around = place.parent
            if around is None:
                continue
            is_left = around.child_by_field_name("left") == place
            if is_left and around.type == "assignment_expression":
                found.append(around)
            found += [around] if around.type == "update_expression" else []
    return found
