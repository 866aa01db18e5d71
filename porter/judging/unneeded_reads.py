"""Reads of the system's registers by functions whose callers do nothing with them any more.

`if (HAL_GetREVID() >= 0x1001) { __HAL_FLASH_PREFETCH_BUFFER_ENABLE(); }`: a program asks for the
chip's revision to set up what the boot table sets up. Once that is taken out, the read decides
about nothing. What it is for is followed in the file of each caller, when all files are decided.
"""

from __future__ import annotations

from collections.abc import Iterator

from porter.flow.dead_slice import Alive, DeadSlice
from porter.flow.statements import LOOPS, is_pure
from porter.judging.docket import Docket
from porter.judging.unit import Unit
from porter.judging.verdict import Status, Verdict
from porter.program.calls import FunctionCall
from porter.sites.access import Access
from porter.source.c_tree import Node, enclosing_function, text_of
from porter.source.edit import Edit

RULE = "unneeded-read"
EMPTIED = "set-up-macro"  # the rule that takes out all that a macro does
_ANY_VALUE = b"0u"


def judge_unneeded_reads(docket: Docket) -> None:
    """A number in place of each of them: any does."""
    emptied = _emptied(docket)
    for path, unit in docket.units.items():
        changed = {
            verdict.site: verdict
            for old in docket.ports[path].verdicts
            if old.status is Status.ESCALATED
            and old.site in unit.verdicts
            and (access := unit.access(old.site)) is not None
            and (verdict := _verdict(docket, unit, access, emptied)) is not None
        }
        docket.rewrite(path, changed)


def _verdict(
    docket: Docket, unit: Unit, access: Access, emptied: frozenset[bytes]
) -> Verdict | None:
    name = _returned_by(unit, access)
    if name is None or not unit.is_only_called(name):
        return None
    calls = unit.calls_of(name)
    units = {id(it.text): it for it in docket.units.values()}
    if not calls or not all(_is_idle(units.get(id(it.text)), it, emptied) for it in calls):
        return None
    whole, context = access.whole, access.context
    edit = Edit(context.start(whole), context.end(whole), _ANY_VALUE)
    reason = f"nothing that stays asks for it: {calls[0].place} decides by {name}() what is removed"
    return Verdict(access.site, Status.REWRITTEN, RULE, reason, (edit,))


def _returned_by(unit: Unit, access: Access) -> str | None:
    """The function that does nothing but return what it calculates from a read."""
    function = enclosing_function(access.whole)
    body = function.child_by_field_name("body") if function is not None else None
    if access.use != "read" or access.context.kind != "function" or body is None:
        return None
    statements = [it for it in body.named_children if it.type != "comment"]
    if len(statements) != 1 or statements[0].type != "return_statement":
        return None
    return access.context.name if is_pure(statements[0], unit.text.evaluator) else None


def _is_idle(unit: Unit | None, call: FunctionCall, emptied: frozenset[bytes]) -> bool:
    """Whether what a call gives only comes to what is taken out."""
    if unit is None:
        return False
    node = unit.variables.tree.smallest(call.start, call.end)
    while node is not None and node.type != "call_expression":
        node = node.parent
    if node is None:
        return False
    slicer = DeadSlice(
        unit.variables,
        unit.text.evaluator,
        lambda it: unit.is_removed(it) or _is_emptied(it, emptied),
        unit.reads_device,
        waits_end=False,
    )
    try:
        found = slicer.of_read(node)
    except Alive:
        return False
    return not any(it.type in LOOPS for it in found.statements.values())


def _is_emptied(node: Node, emptied: frozenset[bytes]) -> bool:
    function = node.child_by_field_name("function")
    return function is not None and text_of(function) in emptied


def _emptied(docket: Docket) -> frozenset[bytes]:
    """Macros of which nothing stays, by any definition."""
    alike: dict[str, bool] = {}
    for it in _in_macros(docket):
        is_gone = it.rule == EMPTIED and it.status is Status.REWRITTEN
        alike[it.site.where] = is_gone and alike.get(it.site.where, True)
    return frozenset(name.encode("latin-1") for name, gone in alike.items() if gone)


def _in_macros(docket: Docket) -> Iterator[Verdict]:
    for path, unit in docket.units.items():
        for verdict in docket.ports[path].verdicts:
            is_code = verdict.site in unit.verdicts and verdict.site.where
            if is_code and unit.region(verdict.site).name is not None:
                yield verdict
