"""Code of C that the compiler leaves out, since a number decides: what a macro of the configuration
has become, `if (!1 && !queue) wait();`.
"""

from __future__ import annotations

from itertools import pairwise

from porter.context_switch.c_flow import CUnits
from porter.source.c_tree import Node, ancestors, strip_parentheses, text_of, walk
from porter.source.truth import binary

_ENTRIES = frozenset({"labeled_statement", "case_statement"})  # jumps come there all the same


def never_runs(node: Node, units: CUnits) -> bool:
    """Whether it stands in an arm of an if statement that is never taken."""
    for inner, around in pairwise((node, *ancestors(node))):
        condition = around.child_by_field_name("condition")
        if around.type != "if_statement" or condition is None:
            continue
        if around.child_by_field_name("consequence") == inner and _is_never(condition, units):
            return not any(it.type in _ENTRIES for it in walk(inner))
    return False


def _is_never(condition: Node, units: CUnits) -> bool:
    condition = strip_parentheses(condition)
    if (sides := binary(condition, b"&&")) is not None:
        return any(_is_never(side, units) for side in sides)
    if (sides := binary(condition, b"||")) is not None:
        return all(_is_never(side, units) for side in sides)
    if any(it.type in ("identifier", "field_identifier") for it in walk(condition)):
        return False
    return units.constant(condition, text_of(condition).decode("latin-1")) == 0
