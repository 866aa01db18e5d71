"""Makes expressions of syntax nodes: names resolved, macros and inline functions seen through."""

from __future__ import annotations

import re
from dataclasses import replace

from porter.interrupt_split.build_call import build_call
from porter.interrupt_split.device import Device
from porter.interrupt_split.expression import Expr, Kind, adopt
from porter.interrupt_split.functions import Function, Functions
from porter.interrupt_split.names import Names, Source
from porter.interrupt_split.types import primitive
from porter.source.c_tree import Node, operands, parse_expression, strip_parentheses, text_of
from porter.source.evaluate import Evaluator
from porter.source.values import Number, Place, Pointer

_MAX_DEPTH = 6  # macros and functions within each other
_PLACES = frozenset({"field_expression", "subscript_expression", "pointer_expression"})
_LITERALS = frozenset({"number_literal", "char_literal"})
_CONSTANT_PARTS = frozenset(
    {"parenthesized_expression", "binary_expression", "unary_expression", "identifier",
     "number_literal"}
)  # fmt: skip
# Names that headers of the mid-section define too.
_STANDARD = re.compile(
    rb"true|false|NULL|_\w*|U?INT\w*_(MAX|MIN)|FVM_\w*|[US]?(CHAR|SHRT|LONG)_\w*"
)
_SPACE = re.compile(rb"\s+")


class Builder:
    """Builds the expressions of one function."""

    def __init__(
        self,
        device: Device,
        evaluator: Evaluator,
        functions: Functions | None,
        names: Names,
        source: Source,
        depth: int = 0,
    ) -> None:
        self.device = device
        self.evaluator = evaluator
        self.functions = functions
        self.names = names
        self.source = source
        self.depth = depth

    def build(self, node: Node) -> Expr:
        """The expression of a node."""
        value = self._constant(node)
        if value is not None:
            return value
        if node.type in _PLACES or node.type == "identifier":
            found = self.place(node)
            if found is not None:
                return found
        handler = getattr(self, "_" + node.type, None)
        if handler is not None:
            built: Expr = handler(node)
            return built
        return self._composed("pure", node, node.type)

    # --- leaves ----------------------------------------------------------------------------

    def _constant(self, node: Node) -> Expr | None:
        value = self.evaluator.value(node, self.names.look_up)
        if not isinstance(value, Number) or node.type == "assignment_expression":
            return None
        names: dict[str, int] = {}
        text = _flat(node)
        if not self._is_plain(node, names):
            text, names = _literal(value.value), {}
        found = self.leaf("const", node, text)
        found.number = value.value
        found.constants = names
        return found

    def _is_plain(self, node: Node, names: dict[str, int]) -> bool:
        """Whether a constant can be written as it is, with `names` defined."""
        if node.type not in _CONSTANT_PARTS:
            return False
        if node.type == "identifier":
            value = self.evaluator.name(text_of(node))
            if not isinstance(value, Number) or _STANDARD.fullmatch(text_of(node)):
                return False
            names[text_of(node).decode("latin-1")] = value.value
        return all(self._is_plain(child, names) for child in node.named_children)

    def place(self, node: Node) -> Expr | None:
        """A register or other hardware; None for anything else."""
        value = self.evaluator.value(node, self.names.look_up)
        if isinstance(value, Place):
            register = self.device.register(value)
            if register is not None:
                text = _flat(node)
                if self.source.tree is None:
                    text = self.device.written(value) or text
                found = self.leaf("read", node, text)
                found.register = register
                return found
            if self.device.is_hardware(value):
                found = self._composed("hardware", node, _flat(node))
                found.indirect = self.device.may_be_ours(value)
                found.register = self.device.aliased(value)
                if found.indirect:
                    found.possible = self.device.named_by(value)
                found.name = _flat(node)
                return found
        return None

    def _identifier(self, node: Node) -> Expr:
        name = text_of(node)
        argument = self.names.arguments.get(name)
        if argument is not None:
            return adopt(Expr("expansion", ["(", _copy(argument), ")"], self.source.line))
        text = name.decode("latin-1")
        if text in self.names.scalars:
            found = self.leaf("local", node, text)
            found.name, found.owner = text, self.names.owner
            return found
        macro = self.evaluator.macros.get(name)
        if macro is not None and macro.parameters is None and self.depth < _MAX_DEPTH:
            body = parse_expression(b" ".join(self.evaluator.macros.expanded(macro.text)))
            if body is not None and body.type != "identifier":
                return self.expansion(node, self.inside(node).build(body))
        found = self.leaf("memory", node, text)
        found.name = text
        return found

    # --- operations ------------------------------------------------------------------------

    def _parenthesized_expression(self, node: Node) -> Expr:
        return self._composed("pure", node, "()")

    def _field_expression(self, node: Node) -> Expr:
        return self._composed("memory", node, _flat(node))

    _subscript_expression = _field_expression

    def _pointer_expression(self, node: Node) -> Expr:
        if text_of(node).startswith(b"&"):  # an address: nothing is read
            value = self.evaluator.value(node, self.names.look_up)
            if not isinstance(value, Pointer) or value.address is None:
                return self.leaf("memory", node, _flat(node), name=_flat(node))
            return self.leaf("memory", node, _flat(node), name=_flat(node))
        return self._field_expression(node)

    def _cast_expression(self, node: Node) -> Expr:
        kind = node.child_by_field_name("type")
        value = node.child_by_field_name("value")
        if kind is None or value is None:
            return self._composed("pure", node, "cast")
        if text_of(kind).split() == [b"void"]:
            written = "void"
        else:
            written = primitive(self.evaluator.types, kind)
        if not written:
            return self._composed("memory" if b"*" in text_of(kind) else "pure", node, "cast")
        inner = self.build(value)
        found = self.leaf("pure", node, "")
        found.pieces, found.operator = [f"({written})", inner], "cast"
        return adopt(found)

    def _binary_expression(self, node: Node) -> Expr:
        sign = node.child_by_field_name("operator")
        text = text_of(sign).decode() if sign is not None else ""
        kinds: dict[str, Kind] = {"&&": "and", "||": "or"}
        return self._composed(kinds.get(text, "pure"), node, text)

    def _conditional_expression(self, node: Node) -> Expr:
        return self._composed("choice", node, "?:")

    def _gnu_asm_expression(self, node: Node) -> Expr:
        return self.leaf("asm", node, _flat(node), name="inline assembly")

    def _compound_statement(self, node: Node) -> Expr:
        return self.leaf("asm", node, _flat(node), name="a statement expression")

    def _compound_literal_expression(self, node: Node) -> Expr:
        return self.leaf("memory", node, _flat(node), name=_flat(node))

    _string_literal = _compound_literal_expression
    _concatenated_string = _compound_literal_expression
    _sizeof_expression = _compound_literal_expression
    _offsetof_expression = _compound_literal_expression

    def _assignment_expression(self, node: Node) -> Expr:
        if (parts := operands(node)) is None:
            return self._composed("memory", node, _flat(node))
        left, sign, right = parts
        return self._assigned(node, left, sign.decode(), self.build(right))

    def _update_expression(self, node: Node) -> Expr:
        target = node.child_by_field_name("argument")
        if target is None:
            return self._composed("memory", node, _flat(node))
        one = Expr("const", ["1"], self.source.line_of(node), number=1)
        sign = "+=" if b"++" in text_of(node) else "-="
        return self._assigned(node, target, sign, one)

    def _assigned(self, node: Node, left: Node, operator: str, value: Expr) -> Expr:
        target = self.build(strip_parentheses(left))
        while target.kind == "expansion":
            target = target.parts[0]
        found = self.leaf("memory", node, "")
        found.operator = operator
        found.value = value
        found.pieces = [target, f" {operator} ", value]
        if target.kind == "read":
            found.kind, found.register = "write", target.register
            found.pieces = [target.text, f" {operator} ", value]
        elif target.kind == "local":
            found.kind, found.name, found.owner = "set", target.name, target.owner
            found.pieces = [target.text, f" {operator} ", value]
        elif target.kind == "hardware":
            found.kind, found.indirect = "hardware", target.indirect
            found.register, found.possible = target.register, target.possible
            found.pieces = [target.text, f" {operator} ", value]
        found.name = found.name or target.text
        return adopt(found)

    def _call_expression(self, node: Node) -> Expr:
        return build_call(self, node)

    # --- helpers ---------------------------------------------------------------------------

    def function(self, name: str) -> Function | None:
        """The function that a name calls here."""
        if self.functions is None:
            return None
        here = self.source.function
        return self.functions.get(name, here.text.file if here is not None else None)

    def inside(self, node: Node) -> Builder:
        """A builder for text that takes the place of a node."""
        source = replace(self.source, tree=None, line=self.source.line_of(node))
        return Builder(
            self.device, self.evaluator, self.functions, self.names, source, self.depth + 1
        )

    def expansion(self, node: Node, inner: Expr) -> Expr:
        """A node that stands for something else."""
        found = self.leaf("expansion", node, "")
        found.pieces = ["(", inner, ")"]
        return adopt(found)

    def leaf(self, kind: Kind, node: Node, text: str, name: str = "") -> Expr:
        """An expression without parts."""
        return Expr(kind, [text], self.source.line_of(node), self.source.span(node), name=name)

    def _composed(self, kind: Kind, node: Node, operator: str) -> Expr:
        """A node with the text between its parts kept."""
        found = self.leaf(kind, node, "")
        found.operator = operator
        found.name = _flat(node) if kind == "memory" else ""
        pieces: list[str | Expr] = []
        end = node.start_byte
        for child in node.children:
            if child.type == "comment":
                continue
            if child.start_byte > end and pieces:
                pieces.append(" ")
            end = child.end_byte
            if child.is_named and child.type not in _NO_VALUE:
                pieces.append(self.build(child))
            else:
                pieces.append(_flat(child))
        found.pieces = pieces or [_flat(node)]
        return adopt(found)


_NO_VALUE = frozenset({"field_identifier", "type_descriptor", "type_identifier"})


def _flat(node: Node) -> str:
    return _SPACE.sub(b" ", text_of(node)).decode("latin-1")


def _literal(value: int) -> str:
    if value < 0:
        return f"(-{-value})" if value > -(1 << 15) else f"0x{value & 0xFFFFFFFF:X}U"
    return f"0x{value & 0xFFFFFFFF:X}U"


def _copy(expr: Expr) -> Expr:
    """The same expression for another place: parts belong to one parent each."""
    value = expr.value
    pieces: list[str | Expr] = []
    fresh = replace(expr, span=None, parent=None)
    for piece in expr.pieces:
        part = piece if isinstance(piece, str) else _copy(piece)
        if piece is value and isinstance(part, Expr):
            fresh.value = part
        pieces.append(part)
    fresh.pieces = pieces
    return adopt(fresh)
