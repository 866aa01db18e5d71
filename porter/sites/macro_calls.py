"""Registers that a macro reaches only through what it is given: `START(handle)` for
`#define START(h) ((h)->Instance->KR = 0xCCCC)`. Which block that is only the call says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from porter.registers.register import Register
from porter.source.c_tree import Node, parse_expression, parse_macro_body, text_of, walk
from porter.source.evaluate import Evaluator, Scope
from porter.source.values import Value

Identify = Callable[[Value | None], Register | None]
_OBJECTS = frozenset({"field_expression", "subscript_expression", "pointer_expression"})


class MacroCalls:
    """Which macros of a translation unit use fields of what they are given."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._known: dict[tuple[bytes, frozenset[bytes]], bool] = {}

    def reach_fields(self, name: bytes, fields: frozenset[bytes]) -> bool:
        """Whether a macro uses one of these fields of an object that its body alone can't name."""
        key = name, fields
        if key not in self._known:
            self._known[key] = self._reach(name, fields)
        return self._known[key]

    def _reach(self, name: bytes, fields: frozenset[bytes]) -> bool:
        macro = self._evaluator.macros.get(name)
        if macro is None or not macro.parameters:
            return False
        words = macro.text
        used = {words[i + 1] for i in range(len(words) - 1) if words[i] in (b"->", b".")}
        if not used & fields:
            return False
        body = _parsed(b" ".join(words))
        return body is None or any(
            node.type == "field_expression"
            and text_of(node.child_by_field_name("field") or node) in fields
            and self._evaluator.value(node) is None
            for node in walk(body)
        )


def call_at(leaf: Node) -> Node | None:
    """The call whose function name a leaf is."""
    call = leaf.parent
    if call is None or call.type != "call_expression":
        return None
    return call if call.child_by_field_name("function") == leaf else None


def expansion_of(call: Node, evaluator: Evaluator) -> Node | None:
    """What a macro call becomes, as a tree of its own."""
    text = evaluator.call_text(call)
    return _parsed(text) if text is not None else None


def objects_in(tree: Node) -> Iterator[Node]:
    """Expressions that may be objects in memory, outermost first."""
    return (node for node in walk(tree) if node.type in _OBJECTS)


def registers_in(
    tree: Node, evaluator: Evaluator, scope: Scope, identify: Identify
) -> list[Register]:
    """The registers that an expansion names, each once."""
    found = (identify(evaluator.value(node, scope)) for node in objects_in(tree))
    return list(dict.fromkeys(register for register in found if register is not None))


def _parsed(text: bytes) -> Node | None:
    node = parse_expression(text)
    if node is not None:
        return node
    tree = parse_macro_body(text, 0, len(text))
    return tree.root if tree is not None else None
