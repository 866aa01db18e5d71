"""Calls: macros and functions that only compute are seen through, others stay calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from porter.interrupt_split.expression import Expr, adopt
from porter.interrupt_split.functions import Function
from porter.interrupt_split.names import Names, Source
from porter.interrupt_split.types import primitive
from porter.source.c_tree import Node, arguments_of, parse_expression, text_of
from porter.source.values import Number, Pointer, Value

if TYPE_CHECKING:
    from porter.interrupt_split.build_expression import Builder

_MAX_DEPTH = 6  # macros and functions within each other


def build_call(builder: Builder, node: Node) -> Expr:
    """The expression of a call."""
    text = builder.evaluator.call_text(node)
    if text is not None and builder.depth < _MAX_DEPTH:
        place = builder.place(node)
        if place is not None:
            return place
        body = parse_expression(text)
        if body is not None:
            return builder.expansion(node, builder.inside(node).build(body))
    function = node.child_by_field_name("function")
    found = builder.leaf("call", node, "")
    found.name = text_of(function).decode("latin-1") if function is not None else "?"
    parts = [builder.build(child) for child in arguments_of(node)]
    found.pieces = [found.name, "("]
    for number, part in enumerate(parts):
        found.pieces += [", ", part] if number else [part]
    found.pieces.append(")")
    found.indirect = function is None or _is_indirect(builder, function)
    adopt(found)
    inlined = _inlined(builder, node, found, parts) if text is None else None
    return found if inlined is None else inlined


def _is_indirect(builder: Builder, function: Node) -> bool:
    name = text_of(function).decode("latin-1")
    if function.type != "identifier" or name in builder.names.scalars:
        return True
    declared = builder.evaluator.types.globals.get(text_of(function))
    return declared is not None and (builder.evaluator.types.of(*declared).kind != "function")


def _inlined(builder: Builder, node: Node, call: Expr, parts: list[Expr]) -> Expr | None:
    """A call of a function that only computes a value from registers of the device."""
    function = builder.function(call.name)
    if function is None or call.indirect or builder.depth >= _MAX_DEPTH:
        return None
    inner = within(builder, function, arguments_of(node), parts)
    if inner is None or function.body is None or not _knows_all(inner, function):
        return None
    built = _value(inner, function)
    if built is None or not any(item.kind in ("read", "write") for item in built.walk()):
        return None
    result = primitive(function.evaluator.types, function.node, returns=True)
    if result and result != "void" and peeled_once(built).pieces[:1] != [f"({result})"]:
        built = adopt(
            Expr("pure", [f"({result})(", built, ")"], inner.source.line, operator="cast")
        )
    return builder.expansion(node, built)


def _knows_all(inner: Builder, function: Function) -> bool:
    """Whether every parameter stands for something; what an argument reads would be lost."""
    bound = {*inner.names.values, *inner.names.arguments}
    return bound.issuperset(function.parameter_names)


def _value(inner: Builder, function: Function) -> Expr | None:
    """What a function returns; None if it does more than compute that."""
    from porter.interrupt_split.symbolic import computed

    if function.returned_value is not None:
        return inner.build(function.returned_value)
    found = computed(inner, function.body) if function.body is not None else None
    return found.value if found is not None and not found.writes else None


def within(
    builder: Builder, function: Function, nodes: list[Node], parts: list[Expr]
) -> Builder | None:
    """A builder for the body of a function that is called with these arguments."""
    names = function.parameter_names
    if len(names) != len(parts):
        return None
    values: dict[bytes, Value] = {}
    arguments: dict[bytes, Expr] = {}
    for name, node, part in zip(names, nodes, parts, strict=True):
        value = builder.evaluator.value(node, builder.names.look_up)
        leads = isinstance(value, Pointer) and bool(value.address or value.fields)
        if isinstance(value, Number) or (isinstance(value, Pointer) and leads):
            values[name] = value
        elif part.is_visible and all(item.kind != "read" for item in part.walk()):
            arguments[name] = part
    inner = Names(function.identity, function.scope, function.scalars, values, arguments)
    line = builder.source.line or (builder.source.line_of(nodes[0]) if nodes else 0)
    source = Source(None, function, line)
    return type(builder)(
        builder.device, function.evaluator, builder.functions, inner, source, builder.depth + 1
    )


def peeled_once(expr: Expr) -> Expr:
    """Without parentheses around it."""
    while expr.kind == "pure" and expr.operator == "()":
        expr = expr.parts[0]
    return expr
