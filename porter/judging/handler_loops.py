"""Loops of interrupt handlers that only another interrupt ends.

On the chip a more urgent one comes between, the tick of a delay for example; the vectors of a
machine don't nest. `handler-wait` judges those that wait by WFI.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from porter.flow.statements import LOOPS, condition_of
from porter.judging.docket import Docket
from porter.judging.unit import Unit
from porter.judging.verdict import Status, Verdict
from porter.sites.context import Context, function_name
from porter.sites.site import Site, SiteKind
from porter.source.c_tree import Node, one_line, text_of, walk
from porter.source.declared import declared_name
from porter.source.evaluate import Evaluator

RULE = "handler-loop"
_GETTER = rb"\b%s\s*\(\s*(?:void)?\s*\)\s*\{\s*return\s+(\w+)\s*;\s*\}"
_IDLE = frozenset({b"__NOP", b"__nop", b"__no_operation"})

Writers = dict[bytes, set[str]]
"""By variable: the functions of handlers that write it."""
Getter = Callable[[bytes], bytes | None]
"""The variable that a function returns and that is all it does; None for other functions."""


def judge_handler_loops(docket: Docket) -> None:
    """A verdict for each, at its condition."""
    handler_of = docket.project.program.handler_of
    inside = [
        (unit, context, handler)
        for unit in docket.units.values()
        for tree, function in unit.contexts.functions()
        if (handler := handler_of(function_name(function))) is not None
        and unit.is_compiled(tree.start(function), tree.end(function))
        if (body := function.child_by_field_name("body")) is not None
        for context in [unit.contexts.at(tree, body)]
    ]
    writers: Writers = {}
    for unit, context, _ in inside:
        for name in unit.text.written.inside(context.root):
            writers.setdefault(name, set()).add(context.name)
    getter = cache(lambda name: _returned(docket, name))
    for unit, context, handler in inside:
        for condition, names in _vain(unit, context, getter):
            others = {
                who for name in names for who in writers.get(name, ()) if handler_of(who) != handler
            }
            if others:
                verdict = _verdict(unit, context, condition, handler, min(others))
                docket.add(unit.file, [verdict])


def _verdict(unit: Unit, context: Context, condition: Node, handler: str, other: str) -> Verdict:
    start, end = context.start(condition), context.end(condition)
    site = Site(unit.file.name, start, end, SiteKind.CALL, one_line(condition), context.name)
    reason = (
        f"{handler} leads here, and while it runs no other interrupt of this machine is served: "
        f"what {other}() sets, this loop waits for in vain; wait in main's loop or a task"
    )
    return Verdict(site, Status.ESCALATED, RULE, reason)


def _vain(unit: Unit, context: Context, getter: Getter) -> Iterator[tuple[Node, set[bytes]]]:
    """Conditions of loops in a function that nothing in them changes, with the variables outside
    of it that they look at."""
    body = context.root.child_by_field_name("body")
    own = _declared(context.root)
    for loop in walk(body) if body is not None else ():
        condition = condition_of(loop) if loop.type in LOOPS else None
        if condition is None or unit.reads_device(condition, context.scope):
            continue
        looked = _looked_at(condition, unit.text.evaluator, getter)
        called = [it for it in walk(loop) if it.type == "call_expression"]
        if looked is None or any(not _is_idle(it, getter) for it in called):
            continue
        changed = unit.text.written.inside(loop)
        if looked - own and not looked & changed and not _leaves(loop):
            yield condition, looked - own


def _declared(function: Node) -> set[bytes]:
    """Names of a function's parameters and local variables."""
    kinds = ("declaration", "parameter_declaration")
    return {
        text_of(name)
        for node in walk(function)
        if node.type in kinds
        for inner in node.children_by_field_name("declarator")
        if (name := declared_name(inner)) is not None
    }


def _looked_at(condition: Node, evaluator: Evaluator, getter: Getter) -> set[bytes] | None:
    """The variables that a condition is made of; None where it asks for anything else, a register
    for example."""
    names: set[bytes] = set()
    for node in walk(condition):
        parent = node.parent
        is_callee = parent is not None and parent.child_by_field_name("function") == node
        if node.type in ("field_expression", "subscript_expression", "pointer_expression"):
            return None
        if node.type == "call_expression":
            function = node.child_by_field_name("function")
            returned = getter(text_of(function)) if function is not None else None
            if returned is None:
                return None
            names.add(returned)
        elif node.type == "identifier" and not is_callee:
            if evaluator.number_of_name(text_of(node)) is not None:
                continue
            if text_of(node) in evaluator.macros:
                return None
            names.add(text_of(node))
    return names


def _is_idle(call: Node, getter: Getter) -> bool:
    function = call.child_by_field_name("function")
    name = text_of(function) if function is not None else b""
    return name in _IDLE or getter(name) is not None


def _leaves(loop: Node) -> bool:
    return any(it.type in ("break_statement", "return_statement", "goto_statement")
               for it in walk(loop))  # fmt: skip


def _returned(docket: Docket, name: bytes) -> bytes | None:
    wanted = re.compile(_GETTER % re.escape(name))
    for unit in docket.units.values():
        if name in unit.file.data and (found := wanted.search(unit.file.data)) is not None:
            return found[1]
    return None
