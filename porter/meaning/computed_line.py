"""Which interrupt line a computed access to the NVIC is for: tried out for every line.

Drivers go from an interrupt's number to a register and a bit in many ways, through locals, macros
and casts: `*(ISER + n / 32) |= 1 << (n % 32)`. Whatever the way, the address and the value are
functions of one number that the code is given; if they are right for all lines, that number is the
line. Armv7-M ARM B3.4: 240 lines, 32 to a word of ISER, four to a word of IPR.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from porter.flow.variables import Variables
from porter.meaning.expressions import source
from porter.sites.access import Access
from porter.source.c_lexer import lex_fragment
from porter.source.c_tree import Node, parse_expression, strip_parentheses, text_of, walk
from porter.source.declarations import outer_declaration
from porter.source.evaluate import Evaluator, Scope
from porter.source.values import Number, Place, Value

_LINES = range(240)
_IPR = 0xE000_E400
_ALL = 0xFFFF_FFFF
_DEPTH = 4  # locals that others are computed from
_LINE, _PRIORITY, _READ = b"fvm_line", b"fvm_priority", b"fvm_read"
_UNKNOWN = frozenset({"identifier", "field_expression", "subscript_expression", "call_expression"})
_TIGHT = re.compile(rb"\s*(->|[.\[\]()])\s*")
_EFFECTS = frozenset({"assignment_expression", "update_expression", "comma_expression"})


@dataclass(frozen=True)
class LinePriority:
    """A line and its priority as code, without the bits that the chip doesn't have. `adds`: to the
    priority that the line has."""

    line: bytes
    priority: bytes
    adds: bool = False


class ComputedAccess:
    """A write to the NVIC, or the test of a bit: `value` is what is written or tested."""

    def __init__(
        self, access: Access, value: Node, variables: Variables, evaluator: Evaluator
    ) -> None:
        self._evaluator, self._scope = evaluator, access.context.scope
        self._operator = access.operator
        self._seen = variables if access.context.tree is variables.tree else None
        place = self._parsed(access.place)
        written = self._parsed(value)
        self._texts: tuple[bytes, bytes] | None = None
        self._unknown: list[bytes] = []
        if place is None or written is None:
            return
        same = _spelt(place)
        texts = text_of(place), _put(written, {same: _READ})
        unknown = [self._unknowns(it) for it in texts]
        if None not in unknown:
            self._texts = texts
            self._unknown = list(dict.fromkeys(name for it in unknown for name in it or ()))

    def line(self, first: int) -> bytes | None:
        """The line whose bit in the words from address `first` on is the only one."""
        if self._texts is None or len(self._unknown) > 1:
            return None
        trees = self._with(dict.fromkeys(self._unknown, _LINE))
        if trees is None:
            return None
        place, value = trees

        def line(number: int) -> int | None:
            bound = {_LINE: Number(number)}
            address, bit = self._address(place, bound), self._number(value, bound)
            if address is None or bit is None or bit.bit_count() != 1 or address % 4:
                return None
            return (address - first) * 8 + bit.bit_length() - 1

        if not self._unknown:
            known = line(0)
            return b"%d" % known if known is not None and known in _LINES else None
        middle = line(64)
        more = middle - 64 if middle is not None else 0
        numbers = [it for it in _LINES if it + more in _LINES]
        if middle is None or any(line(it) != it + more for it in numbers):
            return None
        sign = b"+" if more > 0 else b"-"
        return _neat(self._unknown[0]) + (b" %s %d" % (sign, abs(more)) if more else b"")

    def priority(self, unused: int) -> LinePriority | None:
        """The one line whose byte of IPR changes. `unused`: bits of it that the chip lacks."""
        if self._texts is None or len(self._unknown) > 2:
            return None
        for line in [None, *self._unknown]:
            given = [name for name in self._unknown if name != line]
            if len(given) < 2 and (found := self._as_priority(line, given, unused)) is not None:
                return found
        return None

    def _as_priority(
        self, line: bytes | None, given: list[bytes], unused: int
    ) -> LinePriority | None:
        """The same if `line` is the line's number (None: a constant) and `given` the priority."""
        names = {line: _LINE} if line is not None else {}
        trees = self._with(names | dict.fromkeys(given, _PRIORITY))
        if trees is None:
            return None
        place, value = trees
        numbers: Iterable[int] = _LINES
        if line is None:
            address = self._address(place, {})
            word = (address - _IPR) & ~3 if address is not None else -1
            numbers = [it for it in range(word, word + 4) if it in _LINES]
        real = 0xFF << unused & 0xFF
        highest = 0xFF >> unused
        levels = sorted({0, 1, 2, 5, highest // 2, highest}) if given else [0]

        def byte(number: int, priority: int) -> int | None:
            bound = {_LINE: Number(number), _PRIORITY: Number(priority)}
            return self._byte(place, value, number, bound, real)

        def fits(candidates: Iterable[int], shift: int) -> bool:
            return all(
                byte(number, level << shift) == level << unused & real
                for number in candidates
                for level in levels
            )

        if not given:
            constants = {number: byte(number, 0) for number in numbers}
            known = [(number, it) for number, it in constants.items() if it is not None]
            if not known or (line is not None and len({it for _, it in known}) > 1):
                return None
            if len(known) != (1 if line is None else len(_LINES)):
                return None
            where = _neat(line) if line is not None else b"%d" % known[0][0]
            return LinePriority(where, b"%d" % (known[0][1] >> unused), self._adds)
        for number in [numbers] if line is not None else [[it] for it in numbers]:
            where = _neat(line) if line is not None else b"%d" % next(iter(number))
            for is_byte in (False, True):
                if fits(number, unused if is_byte else 0):
                    text = _neat(given[0]) + (b" >> %d" % unused if is_byte else b"")
                    return LinePriority(where, text, self._adds)
        return None

    @property
    def _adds(self) -> bool:
        return self._operator == b"|="

    def _byte(
        self, place: Node, value: Node, line: int, bound: Mapping[bytes, Value], real: int
    ) -> int | None:
        """What a line's byte becomes; None if the access is for another one, or for more."""
        found = self._evaluator.value(place, self._bound(bound))
        if not isinstance(found, Place) or not _is_exact(found):
            return None
        width = found.type.size
        shift = 0 if width == 1 else line % 4 * 8
        if width not in (1, 4) or found.address != _IPR + (line if width == 1 else line & ~3):
            return None
        lane = real << shift
        others = (real * 0x01010101 if width == 4 else 0) & ~lane
        results = []
        for old in (0, _ALL):
            number = self._number(value, {**bound, _READ: Number(old)})
            if number is None:
                return None
            new = {b"=": number, b"|=": old | number, b"&=": old & number}.get(self._operator)
            if new is None or (new ^ old) & others:
                return None
            results.append((new & lane) >> shift)
        return results[0] if results[0] == results[1] or self._adds else None

    def _address(self, place: Node, bound: Mapping[bytes, Value]) -> int | None:
        found = self._evaluator.value(place, self._bound(bound))
        return found.address if isinstance(found, Place) and _is_exact(found) else None

    def _number(self, value: Node, bound: Mapping[bytes, Value]) -> int | None:
        return self._evaluator.number(value, self._bound(bound))

    def _bound(self, bound: Mapping[bytes, Value]) -> Scope:
        return lambda name: bound[name] if name in bound else self._scope(name)

    def _with(self, names: dict[bytes, bytes]) -> tuple[Node, Node] | None:
        """Place and value with other names for what isn't known."""
        trees = [parse_expression(text) for text in self._texts or ()]
        place, value = (parse_expression(_put(it, names)) for it in trees if it is not None)
        return (place, value) if place is not None and value is not None else None

    def _unknowns(self, text: bytes) -> list[bytes] | None:
        """What an expression depends on; None where evaluating it has effects."""
        tree = parse_expression(text)
        if tree is None:
            return None
        found: list[bytes] = []
        pending = [tree]
        while pending:
            node = pending.pop()
            if node.type in _EFFECTS:
                return None
            if node.type in _UNKNOWN and not self._is_known(node):
                if node.type == "call_expression":
                    return None
                if text_of(node) != _READ:
                    found.append(_spelt(node))
                continue
            pending += reversed(node.named_children)
        return found

    def _is_known(self, node: Node) -> bool:
        if node.type == "call_expression":
            return self._evaluator.cast_argument(node) is not None
        value = self._evaluator.value(node, self._scope)
        return value is not None and not (isinstance(value, Place) and value.address is None)

    def _parsed(self, node: Node) -> Node | None:
        """An expression without locals that are given once, and without macros."""
        text = self._spelt_out(node, _DEPTH)
        return parse_expression(b" ".join(self._evaluator.macros.expand(lex_fragment(text))))

    def _spelt_out(self, node: Node, depth: int) -> bytes:
        return _replaced(node, lambda it: self._given(it, depth))

    def _given(self, node: Node, depth: int) -> bytes | None:
        """What a local is given, in parentheses, of its type."""
        if node.type != "identifier" or self._seen is None or not depth:
            return None
        value = self._seen.given(node)
        if value is None:
            return None
        variable = self._seen.resolve(node)
        declarator = next(self._seen.declarators(variable), None) if variable else None
        kind = outer_declaration(declarator).child_by_field_name("type") if declarator else None
        if kind is None or declarator is None:
            return None
        stars = b"*" * sum(it.type == "pointer_declarator" for it in walk(declarator))
        return b"((%s %s)(%s))" % (text_of(kind), stars, self._spelt_out(value, depth - 1))


def _is_exact(place: Place) -> bool:
    return place.address is not None and place.exact and not place.span and not place.part


def _spelt(node: Node) -> bytes:
    return source(strip_parentheses(node))


def _neat(text: bytes) -> bytes:
    """A name, a field or an element without the spaces that tokens are put together with."""
    return _TIGHT.sub(rb"\1", text)


def _put(tree: Node, names: dict[bytes, bytes]) -> bytes:
    """The text of an expression with other names for some of its parts."""
    return _replaced(tree, lambda it: names.get(_spelt(it)) if it.is_named else None)


def _replaced(node: Node, other: Callable[[Node], bytes | None]) -> bytes:
    """The text of a node with other text for the outermost nodes that have one."""
    parts: list[bytes] = []
    place = node.start_byte
    text = text_of(node)

    def found(inside: Node) -> Iterator[tuple[Node, bytes]]:
        if (instead := other(inside)) is not None:
            yield inside, instead
        else:
            for child in inside.children:
                yield from found(child)

    for inside, instead in found(node):
        parts += [text[place - node.start_byte : inside.start_byte - node.start_byte], instead]
        place = inside.end_byte
    return b"".join([*parts, text[place - node.start_byte :]])
