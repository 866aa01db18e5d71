"""Loops of interrupt handlers that only another interrupt ends.

On the chip a more urgent one comes between, the tick of a delay for example; the vectors of a
machine don't nest. `handler-wait` judges those that wait by WFI.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property

from porter.flow.statements import LOOPS, condition_of
from porter.judging.docket import Docket
from porter.judging.unit import Unit
from porter.judging.verdict import Status, Verdict
from porter.program.closure import closure
from porter.sites.context import Context, function_name
from porter.sites.local_names import declarations
from porter.sites.site import Site, SiteKind
from porter.source.c_tree import Node, ancestors, captured, one_line, query, text_of, walk
from porter.source.declared import declared_name
from porter.source.evaluate import Evaluator

RULE = "handler-loop"
_GETTER = (
    rb"\b%s\s*\(\s*(?:void)?\s*\)\s*\{\s*return\s+(?:\(\s*\w+\s*\)\s*)?\(?\s*(\w+)\s*\)?\s*;\s*\}"
)
_BEGINS_BY_RETURN = re.compile(rb"\)\s*\{\s*return\s")  # no file without it has a getter
_WAITING = frozenset({b"HAL_Delay"})
_LEFT = LOOPS | {"switch_statement"}
_IDLE = frozenset({b"__NOP", b"__nop", b"__no_operation"})
_FIELDS = query(
    "[(assignment_expression left: (_ field: (_) @it)) (update_expression argument: (_ field: (_)"
    " @it)) (pointer_expression argument: (_ field: (_) @it))]"
)

Writers = dict[bytes, set[str]]
"""By variable: the functions of handlers that write it."""
Getter = Callable[[bytes], bytes | None]
"""The variable that a function returns and that is all it does; None for other functions."""
WrittenBy = Callable[[bytes], frozenset[bytes] | None]
"""What a function writes, or those that it calls; None where one isn't here."""


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
        for name in _sets(unit, context.root):
            writers.setdefault(name, set()).add(context.name)
    texts = [unit.file.data for unit in docket.units.values()]
    texts = list(filter(_BEGINS_BY_RETURN.search, texts)) if inside else []
    getter = cache(lambda name: _returned(texts, name))
    written_by = _Written(docket).by
    for unit, context, handler in inside:
        for call in _delays(context):
            if written_by(text_of(call.children[0])) is None:
                docket.add(
                    unit.file, [_verdict(unit, context, call, handler, "the tick's handler")]
                )
        for condition, names in _vain(unit, context, getter, written_by):
            others = {
                who for name in names for who in writers.get(name, ()) if handler_of(who) != handler
            }
            if others:
                verdict = _verdict(unit, context, condition, handler, f"{min(others)}()")
                docket.add(unit.file, [verdict])


def _verdict(unit: Unit, context: Context, condition: Node, handler: str, other: str) -> Verdict:
    start, end = context.start(condition), context.end(condition)
    site = Site(unit.file.name, start, end, SiteKind.CALL, one_line(condition), context.name)
    reason = (
        f"{handler} leads here, and while it runs no other interrupt of this machine is served: "
        f"what {other} sets, this waits for in vain; wait in main's loop or a task"
    )
    return Verdict(site, Status.ESCALATED, RULE, reason)


def _vain(
    unit: Unit, context: Context, getter: Getter, written_by: WrittenBy
) -> Iterator[tuple[Node, set[bytes]]]:
    """Conditions of loops in a function that nothing in them changes, with the variables outside
    of it that they look at."""
    body = context.root.child_by_field_name("body")
    own = _declared(context.root)
    for loop in walk(body) if body is not None else ():
        ends = _ends(loop, unit.text.evaluator) if loop.type in LOOPS else []
        looked: set[bytes] = set()
        for condition in ends:
            names = _looked_at(condition, unit.text.evaluator, getter)
            if names is None or unit.reads_device(condition, context.scope):
                break  # that may change by itself
            looked |= names
        else:
            changed = _sets(unit, loop)
            called = (it for it in walk(loop) if it.type == "call_expression")
            effects = [_effect(it, getter, written_by) for it in called]
            if not ends or None in effects:
                continue
            changed |= {name for names in effects for name in names or ()}
            if looked - own and not looked & changed:
                yield ends[0], looked - own


def _delays(context: Context) -> Iterator[Node]:
    """Calls of library functions that wait for the tick."""
    for call in walk(context.root):
        if call.type == "call_expression" and text_of(call.children[0]) in _WAITING:
            yield call


def _ends(loop: Node, evaluator: Evaluator) -> list[Node]:
    """The conditions by which a loop is left; none where it may be left otherwise."""
    condition = condition_of(loop)
    found = [condition] if condition is not None and evaluator.number(condition) is None else []
    for node in walk(loop):
        if node.type == "goto_statement":
            return []
        if node.type not in ("break_statement", "return_statement"):
            continue
        left = next(it for it in ancestors(node) if it.type in _LEFT)
        if node.type == "break_statement" and left != loop:
            continue  # of a switch, or of another loop
        around = next(it for it in ancestors(node) if it.type in _LEFT or it.type == "if_statement")
        asked = condition_of(around) if around.type == "if_statement" else None
        if asked is None:
            return []
        found.append(asked)
    return found


def _effect(call: Node, getter: Getter, written_by: WrittenBy) -> frozenset[bytes] | None:
    """What a call writes; None where nobody knows."""
    function = call.child_by_field_name("function")
    name = text_of(function) if function is not None else b""
    if name in _IDLE or getter(name) is not None:
        return frozenset()
    return written_by(name)


def _sets(unit: Unit, node: Node) -> set[bytes]:
    """The variables that a piece of code may set, and members, with a dot in front."""
    found = set(unit.text.written.inside(node))
    found |= {b"." + text_of(field) for field in captured(node, _FIELDS, "it")}
    return found


def _is_base(node: Node) -> bool:
    """Whether a name stands in front of a dot."""
    parent = node.parent
    is_part = parent is not None and parent.type == "field_expression"
    return parent is not None and is_part and parent.child_by_field_name("argument") == node


def _declared(function: Node) -> set[bytes]:
    """Names of a function's parameters and local variables."""
    names = (declared_name(declarator) for _, declarator, _ in declarations(function))
    return {text_of(name) for name in names if name is not None}


def _looked_at(condition: Node, evaluator: Evaluator, getter: Getter) -> set[bytes] | None:
    """The variables that a condition is made of; None where it asks for anything else, a register
    for example."""
    names: set[bytes] = set()
    for node in walk(condition):
        parent = node.parent
        is_callee = parent is not None and parent.child_by_field_name("function") == node
        if node.type in ("subscript_expression", "pointer_expression"):
            return None
        if node.type == "field_expression" and any(it.type == "->" for it in node.children):
            return None
        if node.type == "call_expression":
            function = node.child_by_field_name("function")
            returned = getter(text_of(function)) if function is not None else None
            if returned is None:
                return None
            names.add(returned)
        elif node.type == "field_identifier":
            names.add(b"." + text_of(node))
        elif node.type == "identifier" and not is_callee and not _is_base(node):
            if evaluator.number_of_name(text_of(node)) is not None:
                continue
            if text_of(node) in evaluator.macros:
                return None
            names.add(text_of(node))
    return names


def _returned(texts: Iterable[bytes], name: bytes) -> bytes | None:
    wanted = re.compile(_GETTER % re.escape(name))
    for text in texts:
        place = text.find(name)
        while place >= 0:
            if (found := wanted.match(text, place)) is not None:
                return found[1]
            place = text.find(name, place + 1)
    return None


class _Written:
    """What functions write, those that they call included; None where one of these isn't here."""

    def __init__(self, docket: Docket) -> None:
        self._units = docket.units.values()
        self.by = cache(self._by)

    @cached_property
    def _defined(self) -> dict[bytes, list[tuple[Unit, Node]]]:
        found: dict[bytes, list[tuple[Unit, Node]]] = {}
        for unit in self._units:
            for _, function in unit.contexts.functions():
                name = function_name(function).encode("latin-1")
                found.setdefault(name, []).append((unit, function))
        return found

    def _callees(self, name: bytes) -> set[bytes]:
        calls = (it for _, function in self._defined.get(name, ()) for it in walk(function))
        return {text_of(it.children[0]) for it in calls if it.type == "call_expression"} - _IDLE

    def _by(self, name: bytes) -> frozenset[bytes] | None:
        reached = closure((name,), self._callees)
        if not reached <= self._defined.keys():
            return None
        bodies = (it for one in reached for it in self._defined[one])
        return frozenset(it for unit, function in bodies for it in _sets(unit, function))
