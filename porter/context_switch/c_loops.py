"""What runs again and again in a function of C: loops, what lies between a label and a jump back to
it, and functions that call themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from porter.context_switch.c_nodes import calls_in, function_name
from porter.context_switch.callees import Callees
from porter.source.c_tree import Node, ancestors, arguments_of, text_of, walk

LOOPS = frozenset({"while_statement", "do_statement", "for_statement"})
_EXITS = frozenset({"break_statement", "return_statement", "goto_statement"})
_ASKING = frozenset({"if_statement", "switch_statement"})
_NAMES = frozenset({"identifier", "field_identifier"})


@dataclass(frozen=True)
class Loop:
    """`parts`: what is done again, `ends`: conditions by which it is left."""

    node: Node
    parts: tuple[Node, ...]
    ends: tuple[Node, ...]

    def nodes(self) -> Iterator[Node]:
        """All that is done again."""
        for part in self.parts:
            yield from walk(part)


def loops_in(definition: Node, callees: Callees) -> Iterator[Loop]:
    """All of a function."""
    for node in walk(definition):
        if node.type in LOOPS:
            yield Loop(node, (node,), tuple(ends_of(node)))
    yield from _by_jumps(definition)
    yield from _by_calls(definition, callees)


def ends_of(loop: Node) -> list[Node]:
    """Conditions by which a loop is left."""
    found = [loop.child_by_field_name("condition")]
    for node in walk(loop):
        if node.type in _EXITS:
            found += _asked_around(node, loop)
    return _with_names(found)


def _by_jumps(definition: Node) -> Iterator[Loop]:
    labels = {
        text_of(it.child_by_field_name("label") or it): it
        for it in walk(definition)
        if it.type == "labeled_statement"
    }
    for jump in (it for it in walk(definition) if it.type == "goto_statement"):
        label = labels.get(text_of(jump.child_by_field_name("label") or jump))
        if label is None or label.start_byte > jump.start_byte:
            continue
        parts = tuple(_between(label, jump))
        found = [it for part in parts for it in _asked_around(jump, part)]
        for node in (it for part in parts for it in walk(part)):
            if node.type in _EXITS and node != jump:
                found += [it for part in parts for it in _asked_around(node, part)]
        yield Loop(jump, parts, tuple(_with_names(found)))


def _between(label: Node, jump: Node) -> Iterator[Node]:
    """Statements from a label on to the one that jumps back to it."""
    ways = [jump, *ancestors(jump)]
    statement: Node | None = label
    while statement is not None:
        yield statement
        if statement in ways:
            return
        statement = statement.next_named_sibling


def _by_calls(definition: Node, callees: Callees) -> Iterator[Loop]:
    """A function that may call itself, without arguments."""
    name = function_name(definition).decode("latin-1")
    for call, _ in calls_in(definition):
        if name not in {it.name for it in callees.within(call)}:
            continue
        if arguments_of(call):
            continue  # nobody asks whether that is the same again
        ends = _with_names(list(_asked_around(call, definition)))
        yield Loop(call, (definition,), tuple(ends))


def _asked_around(node: Node, within: Node) -> list[Node | None]:
    """Conditions inside a part that decide whether a node in it is come to."""
    found: list[Node | None] = []
    for around in ancestors(node):
        if around.type in _ASKING:
            found.append(around.child_by_field_name("condition"))
        if around == within:
            return found
    return []


def _with_names(found: list[Node | None]) -> list[Node]:
    return [it for it in found if it is not None and any(node.type in _NAMES for node in walk(it))]
