"""What a function's parameters hold where every call of it says the same."""

from __future__ import annotations

from porter.judging.unit import Unit
from porter.program.calls import FunctionCall
from porter.sites.context import Context
from porter.source.arithmetic import word
from porter.source.declared import parameter_names
from porter.source.evaluate import Scope
from porter.source.values import Number, Value


def called_with(unit: Unit, context: Context) -> Scope:
    """The values of names in a function: what `context` knows, and parameters that it never
    writes and that all calls give the same number."""
    if context.kind != "function" or not unit.is_only_called(context.name):
        return context.scope
    calls = unit.calls_of(context.name)
    written = unit.text.written.inside(context.root)
    given: dict[bytes, Value] = {}
    for place, name in enumerate(parameter_names(context.root)):
        numbers = {constant_argument(call, place) for call in calls}
        number = numbers.pop() if len(numbers) == 1 else None
        if number is not None and name not in written:
            given[name] = word(number)
    return lambda name: given.get(name) or context.scope(name)


def constant_argument(call: FunctionCall, place: int) -> int | None:
    """The number that a call gives for a parameter; None if it isn't one."""
    if place >= len(call.arguments):
        return None
    value = call.text.evaluator.text(call.arguments[place])
    return value.value if isinstance(value, Number) else None
