"""Addresses of registers that only a computation gives: products, shifts, complements.

`(0xE000u << 16) + 0xED04u`: none of the numbers in it is an address, so none is a site of its own.
"""

from __future__ import annotations

from collections.abc import Callable

from porter.program.c_text import CText
from porter.sites.context import Context, Contexts
from porter.sites.objects import TRANSPARENT, object_around, operator_of
from porter.sites.region import Region
from porter.source.arithmetic import literal
from porter.source.c_tree import Node, strip_parentheses
from porter.source.c_types import UNKNOWN
from porter.source.values import Initial, Number, Place, Pointer, Value

_COMPUTES = frozenset({b"*", b"<<", b">>", b"~", b"/", b"^", b"|", b"+", b"-"})
_TELLING = frozenset({b"*", b"<<", b"~"})
_MASK = 0xFFFF_FFFF
_DEEPEST = 32  # expressions around a number; lists that the parser takes for one have thousands
_LARGE = 0x0100_0000  # such a number may reach an address by a sum
_BLOCKS = (0xE000_1000, 0xE000_F000)  # bits 31 to 29 alone are a setting rather than an address
_KEEPS = frozenset(
    {"argument_list", "init_declarator", "assignment_expression", "return_statement"}
)  # fmt: skip

IsAddress = Callable[[int], bool]


class ComputedAddresses:
    """Answers for one file. `is_address`: of a register that no domain owns; `is_sure`: a number
    in the system space is an address wherever it stands."""

    def __init__(
        self, text: CText, contexts: Contexts, is_address: IsAddress, is_sure: bool
    ) -> None:
        self._text = text
        self._evaluator = text.evaluator
        self._contexts = contexts
        self._is_address = is_address
        self._is_sure = is_sure
        self._macros: dict[bytes, bool] = {}

    def around(self, region: Region, index: int) -> tuple[int, int] | None:
        """[start, end) of the computation that a token begins and that gives an address."""
        token = region.tokens[index]
        if token.text in region.parameters or not self._may_lead(region, index):
            return None
        context = self._contexts.of(region, token.start, token.end)
        leaf = context.node_at(token.start, token.end) if context is not None else None
        if context is None or leaf is None:
            return None
        whole = self._computation(leaf, context)
        if whole is None or not self._leads(whole, context):
            return None
        return context.start(whole), context.end(whole)

    def _may_lead(self, region: Region, index: int) -> bool:
        token = region.tokens[index]
        if token.kind == "identifier":
            after = region.tokens[index + 1].text if index + 1 < len(region.tokens) else b""
            if after == b"(":
                return self._computes(token.text)
            number = self._evaluator.name(token.text)
            if not isinstance(number, Number):
                return token.text in self._contexts.initialised and _is_operand(region, index)
        elif token.kind == "number":
            number = literal(token.text)
        else:
            return False
        if _is_operand(region, index):
            return True
        return isinstance(number, Number) and number.value & _MASK >= _LARGE

    def _computes(self, name: bytes) -> bool:
        """Whether a macro makes a number, or the name of a register, of its arguments."""
        if name not in self._macros:
            macro = self._evaluator.macros.get(name)
            words = self._evaluator.macros.expanded(macro.text) if macro is not None else ()
            is_code = not {b";", b"=", b"->"}.isdisjoint(words)
            is_telling = not _TELLING.isdisjoint(words) or self._evaluator.macros.pastes(name)
            self._macros[name] = not is_code and is_telling
        return self._macros[name]

    def _computation(self, leaf: Node, context: Context) -> Node | None:
        """The largest known number around a name or a number; None if it is that alone."""
        node = best = leaf
        if leaf.type == "identifier" and leaf.parent is not None:
            is_call = leaf.parent.child_by_field_name("function") == leaf
            node = best = leaf.parent if is_call else leaf
        for _ in range(_DEEPEST):
            parent = node.parent
            if parent is None or parent.type == "assignment_expression":
                break
            if not (parent.type == "parenthesized_expression" or operator_of(parent) in _COMPUTES):
                break
            node = parent
            if _is_number(self._evaluator.value(node, context.scope)):
                best = node
        best = strip_parentheses(best)
        return best if best.type not in ("identifier", "number_literal") else None

    def _leads(self, whole: Node, context: Context) -> bool:
        _, found = object_around(whole, context, self._evaluator)
        match found:
            case Place(address=int() as address):
                return self._is_address(address)
            case Pointer(address=int() as address, type=kind):
                return kind != UNKNOWN and self._is_address(address)
        value = self._evaluator.value(whole, context.scope)
        outer = whole.parent
        while outer is not None and outer.type in TRANSPARENT:
            outer = outer.parent
        if not self._is_sure or outer is None or outer.type not in _KEEPS:
            return False
        is_plain = not operator_of(outer).strip(b"=")
        number = value.value & _MASK if isinstance(value, Number | Initial) else 0
        return is_plain and _BLOCKS[0] <= number < _BLOCKS[1] and self._is_address(number)


def _is_number(value: Value | None) -> bool:
    return isinstance(value, Number | Initial) or (isinstance(value, Pointer) and not value.exact)


def _is_operand(region: Region, index: int) -> bool:
    """Whether an operator that makes large numbers stands beside a token, parentheses aside."""
    for step, bracket in ((-1, b"("), (1, b")")):
        position = index + step
        while 0 <= position < len(region.tokens) and region.tokens[position].text == bracket:
            position += step
        if 0 <= position < len(region.tokens) and region.tokens[position].text in _TELLING:
            return True
    return False
