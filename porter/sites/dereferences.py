"""Accesses that only their value gives away: `*(volatile uint32_t *)A`, whatever A is.

Tokens show most sites: a name of a register, a number that is an address. Here every place in
memory that an expression stands for is evaluated, with macros, enumerators, variables and types, so
that how an address is spelt makes no difference.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from porter.program.c_text import CText
from porter.registers.shared_blocks import is_device, may_be_device
from porter.sites.context import Context, Contexts
from porter.sites.handed_on import HandedOn
from porter.sites.macro_calls import expansion_of, objects_in
from porter.sites.objects import operator_of
from porter.sites.region import Region
from porter.sites.registers import Registers
from porter.source.c_tree import (
    Node,
    SyntaxTree,
    ancestors,
    arguments_of,
    captured,
    query,
    text_of,
    walk,
)
from porter.source.evaluate import Evaluator
from porter.source.scoped_names import names_in
from porter.source.token_tools import has_word
from porter.source.values import Initial, Number, Place, Pointer, Value

_PLACES = query(
    "[(pointer_expression) (field_expression) (subscript_expression) (call_expression)"
    ' (binary_expression left: (parenthesized_expression) operator: "*")] @place'
)
_WITH_ARGUMENT = frozenset({"pointer_expression", "field_expression", "subscript_expression"})
_SUMS = (b"+", b"-", b"|")
_MASK = 0xFFFF_FFFF
_SHORTEST = len("0x40000000")
_BLOCK = 0xFFFF_FC00  # of the address of a register


class Dereferences:
    """Answers for one file."""

    def __init__(self, text: CText, contexts: Contexts, registers: Registers) -> None:
        self._text = text
        self._evaluator = text.evaluator
        self._contexts = contexts
        self._registers = registers
        self.devices: dict[int, str] = {}
        """Devices at fixed addresses that no description gives or denies, with a name of each."""
        self._asked: set[bytes] = set()
        self._handed_on = HandedOn(
            text,
            contexts,
            self._is_given,
            lambda address: registers.memory_behind(address) is not None,
        )

    def missed(self, region: Region, found: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        """[start, end) of what leads to a register where no site was found. `found`: the spans of
        those that were, in order."""
        for tree in self._contexts.trees(region):
            for node in _places(tree):
                start, end = tree.start(node), tree.end(node)
                if _has(found, start, end) or not self._may_lead(node, region):
                    continue
                if tree.is_cplusplus and self._calls_member(node):
                    continue
                span = self._span(region, tree, node)
                if span is not None and not _has(found, *span):
                    found.insert(bisect_left(found, span), span)
                    yield span
            for span in self._handed_on.missed(region, tree):
                if not _has(found, *span):
                    found.insert(bisect_left(found, span), span)
                    yield span

    def _calls_member(self, node: Node) -> bool:
        """Whether a place is a member function of an object of the project, whose name is a block's
        where no header defines it."""
        parent = node.parent
        is_called = parent is not None and parent.child_by_field_name("function") == node
        called = node if is_called else node.child_by_field_name("function")
        base = called.child_by_field_name("argument") if called is not None else None
        name = text_of(base) if base is not None else b""
        return (
            name in self._evaluator.macros.assumed
            and name in self._evaluator.types.globals
            and any(child.type == "." for child in (called.children if called is not None else ()))
        )

    def _span(self, region: Region, tree: SyntaxTree, node: Node) -> tuple[int, int] | None:
        start, end = tree.start(node), tree.end(node)
        context = self._contexts.of(region, start, end) or self._contexts.unsure(region, start, end)
        if context is None or start < region.start or end > region.end:
            return None
        place = _same(context, node, start, end)
        if place is None:
            return None
        names = [text_of(it) for it in _bases(place, self._evaluator) if it.type == "identifier"]
        others = (registers for _, registers in self._registers.otherwise(names))
        given = self._given_addresses(place)
        if not any(
            self._is_register(place, context, it, given) for it in (self._registers, *others)
        ):
            self._note_device(place, context)
            return None
        leaf = self._leaf(place, context)
        return context.start(leaf), context.end(leaf)

    def _given_addresses(self, call: Node) -> set[bytes]:
        """What a call of a macro is given that may be an address."""
        function = call.child_by_field_name("function")
        if function is None or text_of(function) not in self._evaluator.macros:
            return set()
        variables = self._contexts.initialised | self._contexts.assigned
        return {
            text_of(it)
            for argument in arguments_of(call)
            for it in walk(argument)
            if (it.type == "identifier" and text_of(it) in variables)
            or (it.type == "number_literal" and len(text_of(it)) >= _SHORTEST)
        }

    def note_name(self, name: bytes) -> None:
        """The same of a macro that is such a place: no syntax shows that it accesses one."""
        if not self._registers.has_grants and name not in self._asked:
            self._asked.add(name)
            macro = self._evaluator.macros.get(name)
            if macro is not None and macro.parameters is None:
                self._note(self._evaluator.name(name), name)

    def _is_given(self, number: int) -> bool:
        """Whether a number that is handed on is the address of a register that the machine doesn't
        own. Where a block may begin and nobody has said whose it is, it is remembered."""
        if self._registers.is_surely_address(number):
            return True
        if number & ~_BLOCK or not may_be_device(number):
            return False
        if self._registers.has_grants:
            return self._registers.is_address(number)
        self.devices.setdefault(number, f"0x{number:08X}")
        return False

    def _note_device(self, place: Node, context: Context) -> None:
        """Remember a device that nobody has said to be the machine's."""
        value = self._evaluator.value(place, context.scope)
        self._note(value, text_of(self._leaf(place, context)))

    def _note(self, value: Value | None, name: bytes) -> None:
        address = value.address if isinstance(value, Place) else None
        if address is not None and is_device(address) and not self._registers.has_grants:
            self.devices.setdefault(address & _BLOCK, name.decode("latin-1"))

    @staticmethod
    def _is_register(
        place: Node, context: Context, registers: Registers, given: set[bytes]
    ) -> bool:
        evaluator = registers.evaluator
        made = expansion_of(place, evaluator) if given else None
        if made is not None and any(
            registers.identify(evaluator.value(it, context.scope)) is not None
            for it in objects_in(made)
            if any(has_word(text_of(it), word) for word in given)
        ):
            return True
        function = place.child_by_field_name("function")
        called = evaluator.value(function, context.scope) if function is not None else None
        if isinstance(called, Pointer) and called.address is not None:
            return registers.memory_at(called.address) is not None  # code of a ROM
        misread = evaluator.misread_dereference(place, context.scope)
        value = misread or evaluator.value(place, context.scope)
        known = isinstance(value, Place) and value.address is not None
        return known and registers.identify(value) is not None

    def _leaf(self, node: Node, context: Context) -> Node:
        """The name or number in a place that gives its address, or the computation that does."""
        while (inner := self._towards(node, context)) is not None:
            node = inner
        return node

    def _towards(self, node: Node, context: Context) -> Node | None:
        if node.type == "parenthesized_expression":
            return node.named_children[0] if node.named_child_count == 1 else None
        if node.type in _WITH_ARGUMENT:
            return node.child_by_field_name("argument")
        if node.type == "cast_expression":
            return node.child_by_field_name("value")
        if node.type == "call_expression":
            inner = self._evaluator.cast_argument(node)
            return inner if inner is not None else node.child_by_field_name("function")
        if self._evaluator.misread_dereference(node, context.scope) is not None:
            return node.child_by_field_name("right")
        if node.type == "binary_expression" and operator_of(node) in _SUMS:
            sides = [node.child_by_field_name(name) for name in ("left", "right")]
            values = [_size(self._evaluator.value(it, context.scope)) if it else 0 for it in sides]
            return sides[0] if values[0] >= values[1] else sides[1]
        return None

    def _may_lead(self, node: Node, region: Region) -> bool:
        """Whether a place may have a known address: most have a parameter's."""
        for name in _bases(node, self._evaluator):
            if name.type == "identifier":
                text = text_of(name)
                if text in region.parameters:
                    return False
                if (
                    text in self._evaluator.macros
                    or text in self._evaluator.types.enumerators
                    or text in self._evaluator.types.initialised
                    or text in self._contexts.initialised
                    or text in self._contexts.assigned
                ):
                    return True
            elif name.type == "qualified_identifier":
                if names_in(name)[-1] in self._evaluator.types.scoped:
                    return True
            elif name.type == "number_literal" and len(text_of(name)) > len("0x10000"):
                return True
        return False


def _places(tree: SyntaxTree) -> list[Node]:
    """Expressions that may be objects in memory, outermost first."""
    found = captured(tree.root, _PLACES, "place")
    places = [node for node in found if not text_of(node).startswith(b"&")]
    return sorted(places, key=lambda node: (node.start_byte, -node.end_byte))


def _bases(node: Node, evaluator: Evaluator) -> Iterator[Node]:
    """The names and numbers that the address of a place may come from."""
    stack = [node]
    while stack:
        node = stack.pop()
        if node.type in ("identifier", "qualified_identifier", "number_literal"):
            yield node
        elif node.type in _WITH_ARGUMENT:
            inner = node.child_by_field_name("argument")
            stack += [inner] if inner is not None else []
        elif node.type == "call_expression":
            inner = evaluator.cast_argument(node)
            inner = inner if inner is not None else node.child_by_field_name("function")
            stack += [inner] if inner is not None else []
        elif node.type == "cast_expression":
            inner = node.child_by_field_name("value")
            stack += [inner] if inner is not None else []
        elif node.type.endswith("_expression"):
            stack += node.named_children


def _same(context: Context, node: Node, start: int, end: int) -> Node | None:
    """A node of one tree in the tree of its context."""
    found = context.node_at(start, end)
    for it in (found, *ancestors(found)) if found is not None else ():
        if (context.start(it), context.end(it)) != (start, end):
            return None
        if it.type == node.type:
            return it
    return None


def _has(found: list[tuple[int, int]], start: int, end: int) -> bool:
    """Whether one of the spans begins in [start, end)."""
    index = bisect_left(found, (start, 0))
    return index < len(found) and found[index][0] < end


def _size(value: Value | None) -> int:
    match value:
        case Number(value=number) | Initial(value=number):
            return number & _MASK
        case Pointer(address=int() as address) | Place(address=int() as address):
            return address
        case Pointer() | Place():
            return 1
    return 0
