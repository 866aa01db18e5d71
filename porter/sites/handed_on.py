"""Addresses of registers as numbers, given to what makes the access: `write_reg(0x40023830, 1)`.

Nothing makes a pointer of them where they stand, so that they are no place in memory there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from porter.project.knowledge import CText
from porter.sites.context import Contexts
from porter.sites.region import Region
from porter.source.c_tree import Node, SyntaxTree, captured, query, text_of
from porter.source.evaluate import Evaluator
from porter.source.values import Initial, Number

_HOLDERS = query(
    "[(argument_list) (return_statement) (initializer_list) (initializer_pair)"
    " (assignment_expression left: [(field_expression) (subscript_expression)])] @holder"
)
_NUMBERS = frozenset(
    {"identifier", "number_literal", "binary_expression", "cast_expression",
     "parenthesized_expression"}
)  # fmt: skip
_SHORTEST = len("0x40000000")
_MASK = 0xFFFF_FFFF
_LONGEST_LIST = 16  # a table that is longer is data

IsAddress = Callable[[int], bool]


class HandedOn:
    """Answers for one file. `is_address`: of a register that the machine doesn't own."""

    def __init__(self, text: CText, contexts: Contexts, is_address: IsAddress) -> None:
        self._evaluator = text.evaluator
        self._contexts = contexts
        self._is_address = is_address

    def missed(self, region: Region, tree: SyntaxTree) -> Iterator[tuple[int, int]]:
        """[start, end) of such numbers in a tree."""
        for holder in captured(tree.root, _HOLDERS, "holder"):
            for node in self._held(holder):
                if node.type in _NUMBERS and _may_be_large(node, self._evaluator):
                    span = tree.start(node), tree.end(node)
                    context = self._contexts.of(region, *span)
                    value = self._evaluator.value(node, context.scope) if context else None
                    if isinstance(value, Number | Initial) and self._is_address(
                        value.value & _MASK
                    ):
                        yield span

    def _held(self, holder: Node) -> list[Node]:
        if holder.type == "argument_list":
            call = holder.parent
            is_call = call is not None and call.type == "call_expression"
            if call is None or not is_call or self._evaluator.cast_argument(call) is not None:
                return []
            function = call.child_by_field_name("function")
            name = text_of(function) if function is not None else b""
            return [] if name in self._evaluator.macros else holder.named_children
        if holder.type == "initializer_list":
            return holder.named_children if holder.named_child_count < _LONGEST_LIST else []
        field = "value" if holder.type == "initializer_pair" else "right"
        value = holder.child_by_field_name(field)
        if holder.type == "return_statement":
            return holder.named_children
        return [value] if value is not None else []


def _may_be_large(node: Node, evaluator: Evaluator) -> bool:
    """Whether a look at an expression doesn't show that it is no address."""
    if node.type == "number_literal":
        return len(text_of(node)) >= _SHORTEST
    if node.type == "identifier":
        name = text_of(node)
        return name in evaluator.macros or name in evaluator.types.enumerators
    return any(_may_be_large(it, evaluator) for it in node.named_children if it.type in _NUMBERS)
