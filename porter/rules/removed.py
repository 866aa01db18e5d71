"""Taking out accesses to registers that somebody else sets up: the kernel, or the boot table.

Shared by the rules that know which registers those are. A write goes with its statement. A read
goes when everything it influences can go too, or when it asks for a flag that is set by then.
"""

from __future__ import annotations

from collections.abc import Iterator

from porter.flow.dead_slice import Alive, DeadSlice
from porter.flow.statements import is_pure
from porter.judging.unit import Unit
from porter.judging.verdict import Verdict
from porter.rules.rule import Rule
from porter.sites.access import Access
from porter.source.c_tree import ancestors
from porter.source.edit import Edit


def remove_accesses(
    rule: Rule, unit: Unit, accesses: list[Access], reason: str, waits_end: bool
) -> Iterator[Verdict]:
    """Verdicts on accesses that nothing in the machine may or must make."""
    writes = [access for access in accesses if access.use == "write"]
    for access in writes:
        yield _write(rule, unit, access, reason)
    removed = unit.removed_writes
    slicer = DeadSlice(
        unit.variables,
        unit.text.evaluator,
        lambda node: node.id in removed,
        unit.reads_device,
        waits_end,
    )
    for access in accesses:
        if access.use == "read":
            yield _read(rule, unit, access, slicer, reason, waits_end)
        elif access.use == "unclear":
            yield rule.escalated(access.site, f"{access.register} is used by a macro in many ways")


def _write(rule: Rule, unit: Unit, access: Access, reason: str) -> Verdict:
    statement = access.statement
    part = _part_of_list(access) if statement is None else None
    if statement is None and part is None:
        return rule.escalated(
            access.site, f"{access.register} is written inside an expression; {reason}"
        )
    if access.value is not None and not is_pure(access.value, unit.text.evaluator):
        return rule.escalated(
            access.site, f"the value for {access.register} comes from a call with effects; {reason}"
        )
    if access.value is not None and unit.reads_device(access.value, access.context.scope):
        return rule.escalated(
            access.site, f"the value for {access.register} is read from a device; {reason}"
        )
    unit.remove_write(access.context, access.whole)
    if part is not None:
        unit.deletions.add(part)
    elif statement is not None:
        unit.delete(access.context, statement)
    return rule.rewritten(access.site, f"removed write to {access.register}: {reason}")


def _part_of_list(access: Access) -> Edit | None:
    """What goes with a write that is one of `a = 1, b = 2;`: itself and a comma."""
    node, context = access.whole, access.context
    parent = outer = node.parent
    while outer is not None and outer.type == "comma_expression":
        outer = outer.parent
    if parent is None or parent.type != "comma_expression":
        return None
    left, right = parent.child_by_field_name("left"), parent.child_by_field_name("right")
    if left is None or right is None or outer is None or outer.type != "expression_statement":
        return None
    if right == node:
        return Edit(context.end(left), context.end(node), b"")
    return Edit(context.start(node), context.start(right), b"")


def _read(
    rule: Rule, unit: Unit, access: Access, slicer: DeadSlice, reason: str, waits: bool
) -> Verdict:
    if _inside_removed(unit, access):
        return rule.rewritten(access.site, f"removed with the write it is part of: {reason}")
    if access.context.tree is not unit.variables.tree:
        if access.context.kind == "macro":
            return rule.escalated(access.site, f"{access.register} is read in a macro; {reason}")
        return rule.escalated(access.site, f"{access.register} is read in one #if arm; {reason}")
    try:
        found = slicer.of_read(access.whole)
    except Alive as why:
        return rule.escalated(access.site, f"{access.register} is read and {why}; {reason}")
    unit.remove_slice(access.context, found, waits)
    return rule.rewritten(access.site, f"removed with all that depends on it: {reason}")


def _inside_removed(unit: Unit, access: Access) -> bool:
    place = access.whole
    if unit.is_deleted(access.context.start(place), access.context.end(place)):
        return True
    return any(parent.id in unit.removed_writes for parent in ancestors(place))
