"""What is certain about the bits of a value that is not a constant.

Of a local variable too, as far as the statements in front of its use say one after the other what
becomes of it: `temp = AIRCR; temp &= 0xF8FF; temp |= 0x05FA0000; AIRCR = temp;`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from porter.sites.local_names import declarations
from porter.source.c_tree import Node, ancestors, enclosing_function, strip_parentheses, text_of
from porter.source.declared import declared_name
from porter.source.evaluate import Evaluator, Scope
from porter.source.truth import binary
from porter.source.values import Place

_ALL = 0xFFFF_FFFF
_NOTHING = (0, 0)
_NONE: Mapping[int, int] = {}
_BLOCKS = frozenset({"compound_statement", "case_statement"})
_NO_LOCAL = re.compile(rb"\b(?:static|extern|volatile)\b")
_DEEPEST = 12  # steps from one statement, or one expression, to the next

Bits = tuple[int, int]
"""(ones, zeros) among the low 32 bits."""


def ones(node: Node, evaluator: Evaluator, scope: Scope) -> int:
    """Bits that are one whatever the unknown parts are."""
    return _Bits(evaluator, scope).of(node, _DEEPEST)[0]


def zeros(
    node: Node, evaluator: Evaluator, scope: Scope, read_as_0: Mapping[int, int] = _NONE
) -> int:
    """Bits that are zero whatever the unknown parts are. `read_as_0`: bits of registers, by their
    addresses, that nobody ever reads as one."""
    return _Bits(evaluator, scope, read_as_0).of(node, _DEEPEST)[1]


class _Bits:
    """Of expressions in one scope."""

    def __init__(
        self, evaluator: Evaluator, scope: Scope, read_as_0: Mapping[int, int] = _NONE
    ) -> None:
        self._evaluator, self._scope, self._read_as_0 = evaluator, scope, read_as_0
        self._known: dict[tuple[int, int], Bits] = {}

    def of(self, node: Node, depth: int) -> Bits:
        """Of an expression where it stands; each is looked at once, whatever leads there."""
        key = node.id, depth
        if key not in self._known:
            self._known[key] = self._of(node, depth)
        return self._known[key]

    def _of(self, node: Node, depth: int) -> Bits:
        node = strip_parentheses(node)
        number = self._evaluator.number(node, self._scope)
        if number is not None:
            return number, ~number & _ALL
        value = self._evaluator.value(node, self._scope) if self._read_as_0 else None
        address = value.address if isinstance(value, Place) else None
        if address is not None and (never := self._read_as_0.get(address)) is not None:
            return 0, never
        if not depth:
            return _NOTHING
        if node.type == "cast_expression":
            inner = node.child_by_field_name("value")
            return self.of(inner, depth) if inner is not None else _NOTHING
        if node.type == "identifier":
            return self._variable(node, depth - 1)
        if (sides := binary(node, b"|", b"&", b"<<", b">>")) is None:
            return _NOTHING
        sign = node.child_by_field_name("operator")
        operator = text_of(sign) if sign is not None else b""
        return self._together(operator, self.of(sides[0], depth - 1), sides[1], depth - 1)

    def _together(self, operator: bytes, left: Bits, right: Node, depth: int) -> Bits:
        """What an operator makes of known bits and of the operand on its right."""
        if operator in (b"<<", b">>"):
            count = self._evaluator.number(right, self._scope)
            if count is None or count > 31:
                return _NOTHING
            if operator == b"<<":
                return left[0] << count & _ALL, (left[1] << count | (1 << count) - 1) & _ALL
            # Which bit comes in from above, the type says.
            return left[0] >> count, left[1] >> count
        others = self.of(right, depth)
        if operator == b"|":
            return left[0] | others[0], left[1] & others[1]
        if operator == b"&":
            return left[0] & others[0], left[1] | others[1]
        return _NOTHING

    def _variable(self, use: Node, depth: int) -> Bits:
        """What the statements in front of a use leave in a variable of the function around."""
        name, function = text_of(use), enclosing_function(use)
        statement = next((it for it in (use, *ancestors(use)) if _is_in_block(it)), None)
        if function is None or statement is None or not _is_plain_local(function, name):
            return _NOTHING
        if "label" in statement.type:
            return _NOTHING
        before = statement.prev_named_sibling
        return self._behind(before, name, depth) if _is_read_only(statement, name) else _NOTHING

    def _behind(self, statement: Node | None, name: bytes, depth: int) -> Bits:
        """What is in a variable behind a statement."""
        while statement is not None and not _has(statement, name):
            if "label" in statement.type or statement.type == "case_statement":
                return _NOTHING  # others come here too
            statement = statement.prev_named_sibling
        if statement is None or not depth:
            return _NOTHING
        if statement.type == "declaration":
            for declarator in statement.children_by_field_name("declarator"):
                if declarator.type == "init_declarator" and _declares(declarator, name):
                    value = declarator.child_by_field_name("value")
                    return self.of(value, depth - 1) if value is not None else _NOTHING
            return _NOTHING
        inner = statement.named_children[0] if statement.type == "expression_statement" else None
        left = inner.child_by_field_name("left") if inner is not None else None
        right = inner.child_by_field_name("right") if inner is not None else None
        sign = inner.child_by_field_name("operator") if inner is not None else None
        is_own = left is not None and left.type == "identifier" and text_of(left) == name
        if right is None or sign is None or not is_own:
            is_known = inner is not None and _is_read_only(statement, name)
            following = statement.prev_named_sibling
            return self._behind(following, name, depth - 1) if is_known else _NOTHING
        if text_of(sign) == b"=":
            return self.of(right, depth - 1)
        earlier = self._behind(statement.prev_named_sibling, name, depth - 1)
        return self._together(text_of(sign)[:-1], earlier, right, depth - 1)


def _is_in_block(node: Node) -> bool:
    return node.parent is not None and node.parent.type in _BLOCKS


def _has(statement: Node, name: bytes) -> bool:
    return re.search(rb"(?<![\w.>])%s\b" % re.escape(name), text_of(statement)) is not None


def _is_read_only(statement: Node, name: bytes) -> bool:
    """Whether a statement neither sets a variable nor takes its address."""
    word = re.escape(name)
    sets = rb"(?<![\w.>])%s\s*(?:[-+*/%%&|^]|<<|>>)?=(?!=)|(?:\+\+|--|&)\s*%s\b|\b%s\s*(?:\+\+|--)"
    return re.search(sets % (word, word, word), text_of(statement)) is None


def _declares(declarator: Node, name: bytes) -> bool:
    declared = declared_name(declarator)
    return declared is not None and text_of(declared) == name


def _is_plain_local(function: Node, name: bytes) -> bool:
    """Whether a function has one variable of a name, which only its own statements change."""
    text = text_of(function)
    if re.search(rb"(?<!&)&\s*%s\b" % re.escape(name), text) or b"asm" in text.lower():
        return False
    found = [
        kind.parent
        for kind, declarator, _ in declarations(function)
        if _declares(declarator, name) and kind.parent is not None
    ]
    is_one = len(found) == 1 and found[0].type == "declaration"
    return is_one and not _NO_LOCAL.search(text_of(found[0]))
