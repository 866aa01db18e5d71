"""Whether the program always comes to a place: under which condition, if not."""

from __future__ import annotations

from porter.judging.unit import Unit
from porter.program.c_text import CText
from porter.sites.context import function_name
from porter.source.c_tree import Node, ancestors, one_line, text_of

_DEEPEST = 8  # calls
_MAIN = "main"
_ASKS = frozenset({"if_statement", "switch_statement", "conditional_expression"})


def under_condition(unit: Unit, start: int, end: int) -> str:
    """The first condition, of a function or of the calls that lead to it, that a place of the
    unit's file is under, for a person; "" for none. What nobody calls by its name may be entered
    by a table or a pointer: it counts as always."""
    return _condition(unit, unit.text, start, end, _DEEPEST)


def _condition(unit: Unit, text: CText, start: int, end: int, depth: int) -> str:
    found = text.trees.function_at(start, end)
    node = found[0].smallest(start, end) if found is not None else None
    if found is None or node is None:
        return ""
    function = found[1]
    place = f"{text.file.name}:{text.file.line(start)}"
    if (asked := _asked(node, function)) is not None:
        return f"under '{one_line(asked)}' in {place}"
    if (arm := unit.open_condition(text, start)) is not None:
        return f"under #if {arm} in {place}"
    name = function_name(function)
    if (why := unit.why_not_linked(name)) is not None:
        return f"in {name}() of {place}, and {why}"
    calls = unit.calls_of(name) if depth and name != _MAIN else ()
    reasons = [_condition(unit, call.text, call.start, call.end, depth - 1) for call in calls]
    return reasons[0] if reasons and all(reasons) else ""


def _asked(node: Node, function: Node) -> Node | None:
    """The condition of the innermost statement that may pass a node over."""
    inner = node
    for around in ancestors(node):
        if around == function:
            break
        condition = around.child_by_field_name("condition")
        if around.type in _ASKS and condition is not None and inner != condition:
            return condition
        if around.type == "binary_expression" and inner == around.child_by_field_name("right"):
            operator = around.child_by_field_name("operator")
            if operator is not None and text_of(operator) in (b"&&", b"||"):
                return around.child_by_field_name("left")
        inner = around
    return None
