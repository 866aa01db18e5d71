"""Makes expressions of syntax nodes: names resolved, macros and inline functions seen through."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from porter.interrupt_split.device import Device
from porter.interrupt_split.expression import Expr, Kind, adopt
from porter.interrupt_split.functions import Function, Functions
from porter.interrupt_split.types import primitive
from porter.source.c_tree import Node, SyntaxTree, parse_expression, strip_parentheses, text_of
from porter.source.evaluate import Evaluator, Scope
from porter.source.values import Number, Place, Pointer, Value

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


@dataclass
class Names:
    """What the names of one function stand for. `scalars`: locals in processor registers, with
    the type that the mid-section writes; `values`: parameters that an argument gives a value;
    `arguments`: parameters that stand for an expression."""

    owner: int
    scope: Scope
    scalars: Mapping[str, str]
    values: Mapping[bytes, Value] = field(default_factory=dict)
    arguments: Mapping[bytes, Expr] = field(default_factory=dict)

    def look_up(self, name: bytes) -> Value | None:
        """As the evaluator asks."""
        return self.values[name] if name in self.values else self.scope(name)


@dataclass(frozen=True)
class Source:
    """Where nodes stand: a file's tree, or text that took the place of line `line`."""

    tree: SyntaxTree | None
    function: Function | None
    line: int = 0

    def span(self, node: Node) -> tuple[int, int] | None:
        """Offsets in the file."""
        return None if self.tree is None else (self.tree.start(node), self.tree.end(node))

    def line_of(self, node: Node) -> int:
        """Line for a reader."""
        if self.tree is None or self.function is None:
            return self.line
        return self.function.text.file.line(self.tree.start(node))


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
            found = self._place(node)
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
        found = self._leaf("const", node, text)
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

    def _place(self, node: Node) -> Expr | None:
        """A register or other hardware; None for anything else."""
        value = self.evaluator.value(node, self.names.look_up)
        if isinstance(value, Place):
            register = self.device.register(value)
            if register is not None:
                text = _flat(node)
                if self.source.tree is None:
                    text = self.device.written(value) or text
                found = self._leaf("read", node, text)
                found.register = register
                return found
            if self.device.is_hardware(value):
                found = self._composed("hardware", node, _flat(node))
                found.indirect = self.device.may_be_ours(value)
                found.register = self.device.aliased(value)
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
            found = self._leaf("local", node, text)
            found.name, found.owner = text, self.names.owner
            return found
        macro = self.evaluator.macros.get(name)
        if macro is not None and macro.parameters is None and self.depth < _MAX_DEPTH:
            body = parse_expression(b" ".join(self.evaluator.macros.expand(macro.body)))
            if body is not None and body.type != "identifier":
                return self._expansion(node, self.inside(node).build(body))
        found = self._leaf("memory", node, text)
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
                return self._leaf("memory", node, _flat(node), name=_flat(node))
            return self._leaf("memory", node, _flat(node), name=_flat(node))
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
        found = self._leaf("pure", node, "")
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
        return self._leaf("asm", node, _flat(node), name="inline assembly")

    def _compound_statement(self, node: Node) -> Expr:
        return self._leaf("asm", node, _flat(node), name="a statement expression")

    def _compound_literal_expression(self, node: Node) -> Expr:
        return self._leaf("memory", node, _flat(node), name=_flat(node))

    _string_literal = _compound_literal_expression
    _concatenated_string = _compound_literal_expression
    _sizeof_expression = _compound_literal_expression
    _offsetof_expression = _compound_literal_expression

    def _assignment_expression(self, node: Node) -> Expr:
        left = node.child_by_field_name("left")
        right = node.child_by_field_name("right")
        sign = node.child_by_field_name("operator")
        if left is None or right is None or sign is None:
            return self._composed("memory", node, _flat(node))
        return self._assigned(node, left, text_of(sign).decode(), self.build(right))

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
        found = self._leaf("memory", node, "")
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
            found.register = target.register
            found.pieces = [target.text, f" {operator} ", value]
        found.name = found.name or target.text
        return adopt(found)

    # --- calls -----------------------------------------------------------------------------

    def _call_expression(self, node: Node) -> Expr:
        text = self.evaluator.call_text(node)
        if text is not None and self.depth < _MAX_DEPTH:
            place = self._place(node)
            if place is not None:
                return place
            body = parse_expression(text)
            if body is not None:
                return self._expansion(node, self.inside(node).build(body))
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        found = self._leaf("call", node, "")
        found.name = text_of(function).decode("latin-1") if function is not None else "?"
        parts = [self.build(child) for child in _arguments(arguments)]
        found.pieces = [found.name, "("]
        for number, part in enumerate(parts):
            found.pieces += [", ", part] if number else [part]
        found.pieces.append(")")
        found.indirect = function is None or self._is_indirect(function)
        adopt(found)
        inlined = self._inlined(node, found, parts) if text is None else None
        return found if inlined is None else inlined

    def _is_indirect(self, function: Node) -> bool:
        name = text_of(function).decode("latin-1")
        if function.type != "identifier" or name in self.names.scalars:
            return True
        declared = self.evaluator.types.globals.get(text_of(function))
        return declared is not None and (self.evaluator.types.of(*declared).kind != "function")

    def _inlined(self, node: Node, call: Expr, parts: list[Expr]) -> Expr | None:
        """A call of a function that only computes a value from registers of the device."""
        function = self.function(call.name)
        if function is None or call.indirect or self.depth >= _MAX_DEPTH:
            return None
        inner = self.within(function, _arguments(node.child_by_field_name("arguments")), parts)
        if inner is None or function.body is None:
            return None
        built = self._value(inner, function)
        if built is None or not any(item.kind in ("read", "write") for item in built.walk()):
            return None
        result = primitive(function.evaluator.types, function.node, returns=True)
        if result and result != "void" and peeled_once(built).pieces[:1] != [f"({result})"]:
            built = adopt(
                Expr("pure", [f"({result})(", built, ")"], inner.source.line, operator="cast")
            )
        return self._expansion(node, built)

    @staticmethod
    def _value(inner: Builder, function: Function) -> Expr | None:
        """What a function returns; None if it does more than compute that."""
        from porter.interrupt_split.symbolic import computed

        if function.returned_value is not None:
            return inner.build(function.returned_value)
        found = computed(inner, function.body) if function.body is not None else None
        return found.value if found is not None and not found.writes else None

    def function(self, name: str) -> Function | None:
        """The function that a name calls here."""
        if self.functions is None:
            return None
        here = self.source.function
        return self.functions.get(name, here.text.file if here is not None else None)

    def within(self, function: Function, nodes: list[Node], parts: list[Expr]) -> Builder | None:
        """A builder for the body of a function that is called with these arguments."""
        names = function.parameter_names
        if len(names) != len(parts):
            return None
        values: dict[bytes, Value] = {}
        arguments: dict[bytes, Expr] = {}
        for name, node, part in zip(names, nodes, parts, strict=True):
            value = self.evaluator.value(node, self.names.look_up)
            if isinstance(value, Number) or (isinstance(value, Pointer) and value.address):
                values[name] = value
            elif part.is_visible and all(item.kind != "read" for item in part.walk()):
                arguments[name] = part
        inner = Names(function.identity, function.scope, function.scalars, values, arguments)
        line = self.source.line or (self.source.line_of(nodes[0]) if nodes else 0)
        source = Source(None, function, line)
        return Builder(
            self.device, function.evaluator, self.functions, inner, source, self.depth + 1
        )

    # --- helpers ---------------------------------------------------------------------------

    def inside(self, node: Node) -> Builder:
        """A builder for text that takes the place of a node."""
        source = replace(self.source, tree=None, line=self.source.line_of(node))
        return Builder(
            self.device, self.evaluator, self.functions, self.names, source, self.depth + 1
        )

    def _expansion(self, node: Node, inner: Expr) -> Expr:
        found = self._leaf("expansion", node, "")
        found.pieces = ["(", inner, ")"]
        return adopt(found)

    def _leaf(self, kind: Kind, node: Node, text: str, name: str = "") -> Expr:
        return Expr(kind, [text], self.source.line_of(node), self.source.span(node), name=name)

    def _composed(self, kind: Kind, node: Node, operator: str) -> Expr:
        """A node with the text between its parts kept."""
        found = self._leaf(kind, node, "")
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


def peeled_once(expr: Expr) -> Expr:
    """Without parentheses around it."""
    while expr.kind == "pure" and expr.operator == "()":
        expr = expr.parts[0]
    return expr


def _arguments(node: Node | None) -> list[Node]:
    if node is None:
        return []
    return [child for child in node.named_children if child.type != "comment"]


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
