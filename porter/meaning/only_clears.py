"""Writes that set no bit: a register gets back what was read of it, less some bits.

Drivers write a register with code that can set and clear, for settings that this project may never
ask for: `t = EMR; t &= ~line; if (mode & EVENT) t |= line; EMR = t;`.
"""

from __future__ import annotations

from porter.judging.unit import Unit
from porter.meaning.expressions import bare, same_text
from porter.sites.access import Access
from porter.source.c_tree import Node, text_of

_READS = frozenset({"binary_expression", "unary_expression", "init_declarator"})


def only_clears(unit: Unit, access: Access) -> bool:
    """Whether a write can't set a bit that wasn't set: what sets one on the way never runs."""
    if access.operator == b"&=":
        return True
    value = bare(access.value) if access.value is not None else None
    if access.operator != b"=" or value is None or value.type != "identifier":
        return False
    start, end = access.context.start(value), access.context.end(value)
    variables = unit.variables
    use = variables.tree.smallest(start, end)
    variable = variables.resolve_web(use) if use is not None else None
    if use is None or variable is None or variable.function is None:
        return False
    begins = [it.child_by_field_name("value") for it in variables.declarators(variable)]
    uses = list(variables.uses(variable))
    return all(it is None or same_text(it, access.place) for it in begins) and all(
        _sets_none(unit, it, access.place) for it in uses
    )


def _sets_none(unit: Unit, use: Node, register: Node) -> bool:
    """Whether no use of the variable gives it a bit that the register hasn't."""
    parent = use.parent
    if parent is None or parent.type != "assignment_expression":
        return parent is not None and parent.type in _READS
    if parent.child_by_field_name("left") != use:
        return True
    sign = parent.child_by_field_name("operator")
    word = text_of(sign) if sign is not None else b""
    value = parent.child_by_field_name("right")
    if word == b"&=" or (word == b"=" and value is not None and same_text(value, register)):
        return True
    tree = unit.variables.tree
    return unit.why_never_at(tree.start(parent), tree.end(parent)) is not None
