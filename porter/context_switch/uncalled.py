"""What a function takes that nobody in the project goes to, and no C declares: ports have such,
for projects that want them.

Who isn't there passes nothing, so all that counts is that the function doesn't ask: of what
arguments come in, on no way it reads anything, nor does anything it calls.
"""

from __future__ import annotations

from porter.context_switch.assemble import Assembly
from porter.context_switch.code import Code
from porter.context_switch.lift_state import Signature
from porter.context_switch.object_file import Function
from porter.context_switch.result import NotTranscribable
from porter.context_switch.resumers import Resumers


def uncalled(
    assembly: Assembly, function: Function, code: Code, resumers: Resumers
) -> Signature | None:
    """Nothing, with what r0 is in the end as its result; None where somebody may go there, or where
    it may take something."""
    names = resumers.also_called(function.names)
    if function.weak or _has_itself(assembly, function, names) or resumers.leading_to(names, False):
        return None
    try:
        given = frozenset(assembly.object.machine.calls.arguments)
        return Signature((), True) if _asks_nothing(function, code, given) else None
    except NotTranscribable:
        return None


def _has_itself(assembly: Assembly, function: Function, names: frozenset[str]) -> bool:
    """Whether its own text has its address, as a table behind it may that others know."""
    places = range(function.start, function.end, 2)
    found = (assembly.object.relocation(function.section, place) for place in places)
    return any(it is not None and (it.is_local or it.symbol in names) for it in found)


def _asks_nothing(function: Function, code: Code, given: frozenset[str]) -> bool:
    steps = code.steps()
    states = {function.start: given}
    waiting = [function.start]
    while waiting:
        place = waiting.pop()
        step = steps.get(place)
        if step is None or step.calls or step.leaves or step.moves_sp != 0:
            return False
        read = {*step.reads, *(name for _, name in step.saves)}
        read |= {step.move[1]} if step.move is not None else set()
        if states[place] & read:
            return False
        written = step.writes | ({step.move[0]} if step.move is not None else set())
        left = states[place] if step.maybe else states[place] - written
        for following in step.following:
            joined = left | states.get(following, frozenset())
            if joined != states.get(following):
                states[following] = joined
                waiting.append(following)
    return True
