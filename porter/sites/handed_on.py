"""Addresses that are given to what makes the access: of registers as numbers, which nothing makes
a pointer of where they stand (`write_reg(0x40023830, 1)`); of memory as pointers, since numbers in
its range are mostly something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from porter.program.c_text import CText
from porter.sites.context import Contexts
from porter.sites.objects import operator_of
from porter.sites.region import Region
from porter.source.c_tree import Node, SyntaxTree, captured, query, text_of
from porter.source.c_types import UNKNOWN
from porter.source.scoped_names import names_in
from porter.source.token_tools import has_word
from porter.source.values import Initial, Number, Pointer, Value

_HOLDERS = query(
    "[(argument_list) (return_statement) (initializer_list) (initializer_pair)"
    " (init_declarator) (assignment_expression)] @holder",
    of_cplusplus=" (template_argument_list) @holder",
)
_NUMBERS = frozenset(
    {"identifier", "number_literal", "binary_expression", "cast_expression",
     "parenthesized_expression", "qualified_identifier"}
)  # fmt: skip
_HELD = _NUMBERS | {"type_descriptor"}
"""Of a template's arguments, where a name is a type's for the parser."""
_NAMES = frozenset({"identifier", "qualified_identifier", "type_identifier"})
_SUMS = frozenset({b"", b"+", b"-"})
"""Operators of expressions that an address may be the value of; a cast has none."""
_CONSTRUCTED = frozenset({"field_initializer", "init_declarator", "new_expression"})
"""Behind what C++ gives arguments to a constructor."""
_SHORTEST = len("0x40000000")
_MASK = 0xFFFF_FFFF
_LONGEST_LIST = 16  # a table that is longer is data

IsAddress = Callable[[int], bool]


class HandedOn:
    """Answers for one file. `is_register`: that the machine doesn't own; `is_memory`: nor this."""

    def __init__(
        self, text: CText, contexts: Contexts, is_register: IsAddress, is_memory: IsAddress
    ) -> None:
        self._evaluator = text.evaluator
        self._contexts = contexts
        self._is_register = is_register
        self._is_memory = is_memory

    def missed(self, region: Region, tree: SyntaxTree) -> Iterator[tuple[int, int]]:
        """[start, end) of such numbers in a tree."""
        for holder in captured(tree.root, _HOLDERS, "holder"):
            for node in self._held(holder):
                if any(has_word(text_of(node), it) for it in region.parameters):
                    continue  # of a macro, whose names hide variables
                if node.type in _HELD and self._may_be_large(node):
                    span = tree.start(node), tree.end(node)
                    context = self._contexts.of(region, *span)
                    value = self._evaluator.value(node, context.scope) if context else None
                    if self._is_told(value, holder):
                        yield span

    def _is_told(self, value: Value | None, holder: Node) -> bool:
        match value:
            case Number(value=number) | Initial(value=number):
                return _hands_on(holder) and self._is_register(number & _MASK)
            case Pointer(address=int() as address, type=kind) if kind is not UNKNOWN:
                return self._is_memory(address)
        return False

    def _may_be_large(self, node: Node, of_sum: bool = True) -> bool:
        """Whether a look at an expression doesn't show that it is no address. `of_sum`: what
        variables hold may be one there, in other computations it is a number."""
        if node.type == "number_literal":
            return len(text_of(node)) >= _SHORTEST
        if node.type == "type_descriptor" and node.named_child_count == 1:
            node = node.named_children[0]
        if node.type in _NAMES:
            name = names_in(node)[-1]
            types = self._evaluator.types
            if name in self._evaluator.macros or name in types.enumerators:
                return True
            variables = (types.scoped, types.initialised, self._contexts.initialised)
            return of_sum and any(name in it for it in variables)
        of_sum = of_sum and operator_of(node) in _SUMS
        return any(
            self._may_be_large(it, of_sum) for it in node.named_children if it.type in _NUMBERS
        )

    def _held(self, holder: Node) -> list[Node]:
        if holder.type == "argument_list":
            call = holder.parent
            if call is not None and call.type in _CONSTRUCTED:
                return holder.named_children
            is_call = call is not None and call.type == "call_expression"
            if call is None or not is_call or self._evaluator.cast_argument(call) is not None:
                return []
            function = call.child_by_field_name("function")
            name = text_of(function) if function is not None else b""
            return [] if name in self._evaluator.macros else holder.named_children
        if holder.type == "template_argument_list":
            return holder.named_children
        if holder.type == "initializer_list":
            return holder.named_children if holder.named_child_count < _LONGEST_LIST else []
        field = "right" if holder.type == "assignment_expression" else "value"
        value = holder.child_by_field_name(field)
        if holder.type == "return_statement":
            return holder.named_children
        return [value] if value is not None else []


def _hands_on(holder: Node) -> bool:
    """Whether a number goes where its type doesn't tell what it is; variables are followed."""
    left = holder.child_by_field_name("left")
    if holder.type == "assignment_expression" and left is not None:
        return left.type in ("field_expression", "subscript_expression")
    return holder.type != "init_declarator"
