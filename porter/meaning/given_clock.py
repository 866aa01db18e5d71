"""Parameters through which a function gets what the core's clock is now, from all that call it."""

from __future__ import annotations

from porter.judging.unit import Unit
from porter.meaning.tick_rate import says_clock
from porter.program.c_text import CText
from porter.program.calls import FunctionCall
from porter.sites.context import Context, function_name
from porter.source.c_lexer import lex_fragment
from porter.source.c_tree import Node, text_of, walk
from porter.source.declared import parameter_names

_MOST_CALLERS = 3  # from the function to who names the clock


def is_given_clock(unit: Unit, context: Context, value: Node) -> bool:
    """Whether a value is calculated from a parameter that every call makes of SystemCoreClock."""
    if context.kind != "function":
        return False
    names = {text_of(it) for it in walk(value) if it.type == "identifier"}
    return _is_given(unit, unit.text, context.root, names, _MOST_CALLERS)


def _is_given(unit: Unit, text: CText, function: Node, names: set[bytes], depth: int) -> bool:
    """Whether one of these names is such a parameter of a function."""
    name = function_name(function)
    calls = unit.calls_of(name) if depth and unit.is_only_called(name) else ()
    written = text.written.inside(function)
    for place, it in enumerate(parameter_names(function) if calls else ()):
        is_kept = it in names and it not in written
        if is_kept and all(_gives(unit, call, place, depth) for call in calls):
            return True
    return False


def _gives(unit: Unit, call: FunctionCall, place: int, depth: int) -> bool:
    if place >= len(call.arguments):
        return False
    given = call.arguments[place]
    if says_clock(given, call.text.evaluator):
        return True
    around = call.text.trees.function_at(call.start, call.end)
    names = {it.text for it in lex_fragment(given) if it.kind == "identifier"}
    return around is not None and _is_given(unit, call.text, around[1], names, depth - 1)
