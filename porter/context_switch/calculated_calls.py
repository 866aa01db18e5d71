"""Calls in C to an address that C makes of a function's: it may be in the middle of code, behind
what saves the registers that a call keeps.

The bit that says Thumb may be set and cleared. Who compares such an address, or reads code by it,
calls nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from porter.context_switch.beside_members import steps
from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import assignments_to, calculation, calls_in, is_local, uses_in
from porter.context_switch.c_stores import is_device
from porter.context_switch.callees import Callees
from porter.context_switch.member_kinds import MemberKinds
from porter.context_switch.result import NotTranscribable
from porter.source.c_tree import (
    Node,
    captured,
    enclosing_function,
    one_line,
    outermost,
    query,
    strip_parentheses,
    text_of,
    walk,
)

_IDENTIFIERS = query("(identifier) @it")
_MOVES = (b"+", b"-", b"|", b"^", b"&")
_THUMB = frozenset({0, 1, 0xFFFF_FFFE, 0xFFFF_FFFF})
_READS = frozenset({"subscript_expression", "pointer_expression", "field_expression"})
_ASKS = frozenset(
    {"binary_expression", "unary_expression", "if_statement", "while_statement", "for_statement",
     "do_statement", "switch_statement", "conditional_expression", "sizeof_expression"}
)  # fmt: skip


class CalculatedCalls:
    """Looks at functions of C, and at what becomes of functions' addresses."""

    def __init__(self, units: CUnits) -> None:
        self._units = units
        self._kinds = MemberKinds(units)

    def within(self, definition: Node) -> Node | None:
        """What a function calculates, or a variable that it calls is set to, and calls; None for
        nothing."""
        for call, _ in calls_in(definition):
            callee = call.child_by_field_name("function")
            for value in self._sources(_plain(callee), definition) if callee is not None else ():
                names = any(it.type == "identifier" for it in walk(value))
                if value.type == "binary_expression" and names and self._moves(value, None):
                    return value
        return None

    def of(self, names: Iterable[str]) -> dict[str, Node]:
        """Functions whose addresses are calculated with, where the result may be called, and that
        result."""
        uses = {name: self._values(name.encode("latin-1")) for name in names}
        if not self._made([it for some in uses.values() for it in some]):
            return {}
        found = {name: self._called(some) for name, some in uses.items()}
        return {name: node for name, node in found.items() if node is not None}

    def _sources(self, callee: Node, function: Node) -> Iterator[Node]:
        yield callee
        name = callee.child_by_field_name("field") or callee
        if name.type == "identifier" and is_local(function, text_of(name)):
            uses = captured(function, _IDENTIFIERS, "it")
            own = assignments_to(it for it in uses if text_of(it) == text_of(name))
            yield from (_plain(value) for _, value in own)
        elif name.type in ("identifier", "field_identifier"):
            is_member = name.type == "field_identifier"
            for place, value in self._units.assignments(text_of(name)):
                is_variable = place.type == "identifier"
                if not (is_member and (is_variable or self._kinds.are_two(callee, place))):
                    yield _plain(value)

    def _values(self, name: bytes) -> list[Node]:
        """Where C has a function's address."""
        return [it for it in self._units.calls(name) if it.type == "identifier"]

    def _called(self, values: list[Node]) -> Node | None:
        """What is calculated from addresses and may be called."""
        for made in self._made(values):
            waiting, seen = [made], {made.id}
            while waiting:
                for part, parent in self._units.ends([waiting.pop()], self._is_another):
                    if calculation(parent) is None:
                        if _may_be_called(parent):
                            return made
                    elif parent.id not in seen and not _is_number(part, parent):
                        seen.add(parent.id)
                        waiting.append(parent)
        return None

    def _made(self, values: list[Node]) -> list[Node]:
        """What is calculated from addresses, other than to set and clear the bit for Thumb."""
        found: list[Node] = []
        waiting, seen = list(values), set[int]()
        while waiting:
            ends, waiting = list(self._units.ends(waiting, self._is_another)), []
            for part, parent in ends:
                if calculation(parent) is not None and parent.id not in seen:
                    seen.add(parent.id)
                    if not _is_number(part, parent):
                        (found if self._moves(parent, part) else waiting).append(parent)
                elif part.type == "identifier" and steps(parent, text_of(part)):
                    around = enclosing_function(part)
                    found += uses_in(around, text_of(part)) if around is not None else ()
        return found

    def _is_another(self, node: Node, before: Node | None) -> bool:
        """Whether a member has only its name in common with one that a value was put into, or what
        moves is a pointer to the value."""
        place = before.child_by_field_name("left") if before is not None else None
        if place is None or before == node:
            return False
        if place.type == "subscript_expression" and node.type == "identifier":
            return node.parent is not None and steps(node.parent, text_of(node))
        return self._kinds.are_two(place, node)

    def _moves(self, whole: Node, part: Node | None) -> bool:
        """Whether a calculation with an address comes to another one. `part`: where that stands."""
        left, right = whole.child_by_field_name("left"), whole.child_by_field_name("right")
        if left is None or right is None or calculation(whole) not in _MOVES:
            return False
        others = [it for it in (left, right) if part is None or outermost(it) != outermost(part)]
        return not any(self._is_thumb(it) for it in others)

    def _is_thumb(self, operand: Node) -> bool:
        names = [text_of(it) for it in walk(operand) if it.type == "identifier"]
        around = enclosing_function(operand)
        if around is not None and any(is_local(around, it) for it in names):
            return False
        return self._units.word(operand, text_of(operand).decode("latin-1")) in _THUMB


class WholeFunctions:
    """Refuses what may come to the middle of a function. `calculated`: as CalculatedCalls.of()."""

    def __init__(
        self, callees: Callees, calls: CalculatedCalls, calculated: Callable[[], dict[str, Node]]
    ) -> None:
        self._callees, self._calls, self._calculated = callees, calls, calculated

    def refuse(self, called: Iterable[str]) -> None:
        """NotTranscribable where one of these functions, or one that it leads to, calls an address
        that is calculated, or may do so by a pointer."""
        reached = list(self._callees.of(called))
        for it in reached:
            for definition in it.body.definitions:
                if (made := self._calls.within(definition)) is not None:
                    raise _in_the_middle(f"{it.road}, which calls", made)
        if any(self._callees.calls_by_pointers(it.name) for it in reached):
            for it in reached:
                if (made := self._calculated().get(it.name)) is not None:
                    raise _in_the_middle(f"{it.road}, or what C calculates with its address,", made)


def _in_the_middle(what: str, made: Node) -> NotTranscribable:
    return NotTranscribable(
        f"{what} '{one_line(made)}': is that in the middle of a function, behind what saves the "
        "task's registers? Call functions by their names, or what has their addresses as they are"
    )


def _is_number(part: Node, whole: Node) -> bool:
    """Whether a calculation with an address has none any more: a distance, or a shifted one."""
    is_behind = whole.child_by_field_name("right") == part
    return calculation(whole) not in _MOVES or (is_behind and calculation(whole) == b"-")


def _may_be_called(parent: Node) -> bool:
    """Whether what is around an address may call it or hand it to somebody who does."""
    if parent.type in _READS:
        around = outermost(parent).parent
        return parent.type == "pointer_expression" and (
            around is not None and around.child_by_field_name("function") == outermost(parent)
        )
    if parent.type == "assignment_expression":  # to a place that a pointer leads to
        place = parent.child_by_field_name("left")
        return place is None or not is_device(place)
    return parent.type not in _ASKS


def _plain(value: Node) -> Node:
    """An expression without casts around it."""
    value = strip_parentheses(value)
    while value.type == "cast_expression" and (inner := value.child_by_field_name("value")):
        value = strip_parentheses(inner)
    return value
