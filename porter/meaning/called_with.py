"""What a function's parameters hold where every call of it says the same."""

from __future__ import annotations

from porter.judging.unit import Unit
from porter.meaning.set_once import kept_since, set_once
from porter.program.c_text import CText
from porter.program.calls import FunctionCall
from porter.sites.context import Context, Contexts
from porter.source.arithmetic import word
from porter.source.declared import parameter_names
from porter.source.evaluate import Scope
from porter.source.values import Number, Value

_MOST_CALLERS = 3  # from the function to who knows the number


def called_with(unit: Unit, context: Context) -> Scope:
    """The values of names in a function: what `context` knows, and parameters that it never
    writes and that all calls give the same number, as one or as what their callers were given."""
    return _called_with(unit, unit.text, context, _MOST_CALLERS)


def _called_with(unit: Unit, text: CText, context: Context, depth: int) -> Scope:
    if context.kind != "function" or not depth or not unit.is_only_called(context.name):
        return context.scope
    calls = unit.calls_of(context.name)
    written = text.written.inside(context.root)
    given: dict[bytes, Value] = {}
    for place, name in enumerate(parameter_names(context.root)):
        if name in written:
            continue
        numbers = {_argument(unit, call, place, depth) for call in calls}
        number = numbers.pop() if len(numbers) == 1 else None
        if number is not None:
            given[name] = word(number)
    return lambda name: given.get(name) or context.scope(name)


def constant_argument(call: FunctionCall, place: int) -> int | None:
    """The number that a call gives for a parameter; None if it isn't one."""
    if place >= len(call.arguments):
        return None
    value = call.text.evaluator.text(call.arguments[place])
    return value.value if isinstance(value, Number) else None


def _argument(unit: Unit, call: FunctionCall, place: int, depth: int) -> int | None:
    """The same, by what the caller was given."""
    number = constant_argument(call, place)
    around = call.text.trees.function_at(call.start, call.end)
    if number is not None or place >= len(call.arguments) or around is None:
        return number
    tree, function = around
    inner = tree.smallest(call.start, call.end)
    if inner is None or function.has_error:
        return None
    context = Contexts(call.text).at(tree, inner)
    given = _called_with(unit, call.text, context, depth - 1)
    evaluator = call.text.evaluator

    def scope(name: bytes) -> Value | None:
        """With constants that another file of the project defines."""
        value = given(name)
        known = None if isinstance(value, Number) else unit.constant(context, name)
        return known if known is not None else value

    def with_locals(name: bytes) -> Value | None:
        value = scope(name)
        if isinstance(value, Number):
            return value
        once = set_once(call.text, function, name, inner, scope)
        if once is None and (kept := unit.kept(name)) is not None:
            once = kept_since(kept, call.text, function, inner, scope)
        return once if once is not None else value

    found = evaluator.text(call.arguments[place], with_locals)
    return found.value if isinstance(found, Number) else None
