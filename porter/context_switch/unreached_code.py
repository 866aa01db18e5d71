"""Where an assembler function is entered besides its beginning: at instructions to which nothing
in it leads, and where an address goes that somebody has. A jump by a register may come there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from porter.context_switch.assemble import Assembly
from porter.context_switch.codes import code_of
from porter.context_switch.object_file import Function
from porter.context_switch.register_steps import Step
from porter.context_switch.result import NotTranscribable

_BACK = frozenset({"lr", "ra"})


def unreached(assembly: Assembly, function: Function, steps: dict[int, Step]) -> set[int]:
    """Their addresses. What another function of the object reaches is that one's, unless this one
    jumps by a register."""
    own = {it for it in steps if function.start <= it < function.end}
    found = own - _reached(assembly, function)
    if not found or any(map(is_computed, steps.values())):
        return found
    others = (it for it in assembly.object.functions if it.section == function.section)
    for other in others:
        if other.name != function.name:
            found -= _reached(assembly, other)
    return found


def taken_inside(assembly: Assembly, function: Function, steps: dict[int, Step]) -> list[int]:
    """Where in a function somebody may go by an address that the object has: other than to its
    beginning, and other than in a table of data."""
    unit = assembly.object
    places = {*unit.taken(function.section), *(it.takes for it in steps.values())}
    return sorted(
        place
        for place in places
        if place is not None and function.start < place < function.end and place in steps
    )


def _reached(assembly: Assembly, function: Function) -> set[int]:
    """Where a function comes to by itself, and routines in its section that it calls."""
    found: set[int] = set()
    starts, waiting = {function.start}, [function]
    while waiting:
        here = waiting.pop()
        with suppress(NotTranscribable):
            code = code_of(assembly, here)
            reached = set(code.reached(0, len(assembly.object.data[here.section])))
            found |= reached
            steps = code.steps()
            for place in _routines(steps, reached):
                if place not in starts:
                    starts.add(place)
                    around = assembly.object.function_at(here.section, place) or here
                    waiting.append(replace(around, start=place))
    return found


def _routines(steps: dict[int, Step], reached: set[int]) -> Iterator[int]:
    called = (steps[it].place for it in reached if it in steps)
    return (place for place in called if place is not None)


def is_computed(step: Step) -> bool:
    """Whether a register or a word in memory says where an instruction goes on."""
    from_stack = any(name == "pc" for _, name in step.loads)
    back = (step.move is not None and step.move[1] in _BACK) or bool(step.reads & _BACK)
    return (step.leaves and not step.target) or (step.returns and not from_stack and not back)
