"""Names and numbers that lead to the machine's system although they aren't addresses by themselves.

`base` in `*(volatile uint32_t *)(base + 0x4000)`, a macro for the start of a whole bus, the number
0x02000000, which is a mask in one place and a CLINT in another: what is around them decides.
"""

from __future__ import annotations

from porter.program.c_text import CText
from porter.registers.system_space import SystemSpace
from porter.sites.context import Context, Contexts
from porter.sites.objects import object_around, operator_of, sum_around
from porter.sites.plain_numbers import is_plain
from porter.sites.region import Region
from porter.source.arithmetic import literal
from porter.source.c_lexer import Token
from porter.source.c_tree import Node, text_of
from porter.source.declarations import is_declarator
from porter.source.values import Initial, Number, Place, Pointer, Value

_LOWEST = 0x0100_0000  # what is smaller is a size or an offset
_LONG_TABLE, _FEW = 32, 4  # elements, and one in so many at most is an address by chance
_SHORTEST = len("0x1000000")
_BITWISE = frozenset({b"&", b"|", b"^", b"<<", b">>", b"&=", b"|=", b"^=", b"~"})
_INITIALISERS = frozenset({"init_declarator", "initializer_list", "initializer_pair"})


class SystemAddresses:
    """Answers for one file."""

    def __init__(self, text: CText, contexts: Contexts, space: SystemSpace) -> None:
        self._evaluator = text.evaluator
        self._contexts = contexts
        self._space = space
        self._macros: dict[bytes, bool] = {}
        self._tables: dict[int, bool] = {}

    def leads(self, region: Region, token: Token) -> bool:
        """Whether the expression around a name or number accesses the system or is an address
        there."""
        if token.text in region.parameters or not self._may_lead(token):
            return False
        context = self._contexts.of(region, token.start, token.end)
        node = context.node_at(token.start, token.end) if context is not None else None
        if context is None or node is None:
            value = self._evaluator.text(token.text)
            return isinstance(value, Number) and self._is_telling(value.value)
        if node.type not in ("identifier", "number_literal") or is_declarator(node):
            return False
        _, found = object_around(node, context, self._evaluator)
        match found:
            case Pointer(address=int() as address) | Place(address=int() as address):
                return self._space.holds(address)
        return self._is_address(node, context)

    def _may_lead(self, token: Token) -> bool:
        if token.kind == "number":
            return len(token.text) >= _SHORTEST
        if token.text in self._contexts.initialised or self._evaluator.keeps_address(token.text):
            return True
        if token.text not in self._macros:
            macro = self._evaluator.macros.get(token.text)
            plain = macro is not None and macro.parameters is None
            value = self._evaluator.name(token.text) if plain else None
            self._macros[token.text] = _is_large(value)
        return self._macros[token.text]

    def _is_address(self, node: Node, context: Context) -> bool:
        """Whether a number, or the sum that it is part of, is an address although nothing makes it
        a pointer here: it is handed to a function or kept for later."""
        whole, value = sum_around(node, context, self._evaluator)
        if not isinstance(value, Number | Initial) or whole.parent is None:
            return False
        if operator_of(whole.parent) in _BITWISE or is_plain(whole, context):
            return False
        if self._is_data(whole):
            return False
        if self._is_telling(value.value):
            return True
        is_name = node.type == "identifier"
        kept = whole.parent.type in _INITIALISERS or text_of(node) not in self._evaluator.macros
        return is_name and kept and self._space.begins_block(value.value)

    def _is_data(self, element: Node) -> bool:
        """Whether a number stands in a long table of numbers, a font's or a hash's, of which some
        only happen to be addresses."""
        table = element.parent
        if table is None or table.type != "initializer_list":
            return False
        while table.parent is not None and table.parent.type == "initializer_list":
            table = table.parent
        if table.id not in self._tables:
            numbers = _numbers_of(table)
            count = len(numbers or ())
            led = sum(map(self._space.holds, numbers or ()))
            self._tables[table.id] = count >= _LONG_TABLE and _FEW * led <= count
        return self._tables[table.id]

    def _is_telling(self, number: int) -> bool:
        """Whether a number is hardly a mask: runs of ones, as the 0x02000000 at which many a CLINT
        begins, mostly are."""
        return self._space.holds(number) and number + (number & -number) & number != 0


def _numbers_of(table: Node) -> list[int] | None:
    """The elements of a table of numbers, tables in it too; None where one is something else."""
    found: list[int] = []
    for element in table.named_children:
        if element.type == "comment":
            continue
        if element.type == "initializer_list":
            inner = _numbers_of(element)
            if inner is None:
                return None
            found += inner
            continue
        number = literal(text_of(element)) if element.type == "number_literal" else None
        if number is None:
            return None
        found.append(number.value)
    return found


def _is_large(value: Value | None) -> bool:
    match value:
        case Number(value=number):
            return number >= _LOWEST
        case Pointer(address=int() as address) | Place(address=int() as address):
            return address >= _LOWEST
    return False
