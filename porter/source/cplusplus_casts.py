"""The casts of C++: `static_cast<T>(x)` and its like, `T(x)` and `T{x}`."""

from __future__ import annotations

from porter.source.c_tree import Node, arguments_of, parts_of, strip_parentheses, text_of

_NAMED = frozenset({b"static_cast", b"reinterpret_cast", b"const_cast"})
_LISTS = frozenset({"initializer_list", "argument_list"})


def sole_value(node: Node) -> Node:
    """`x` of the initialiser `{x}` or `(x)`; any other initialiser is itself."""
    parts = parts_of(node)
    is_list = node.type in _LISTS and len(parts) == 1 and parts[0].type != "initializer_pair"
    return parts[0] if is_list else node


def named_cast(call: Node) -> tuple[Node, Node] | None:
    """The type's descriptor and the operand of `static_cast<T>(x)` and its like."""
    function = call.child_by_field_name("function")
    if call.type != "call_expression" or function is None or function.type != "template_function":
        return None
    name = function.child_by_field_name("name")
    types = function.child_by_field_name("arguments")
    operand = _operand(call)
    if name is None or text_of(name) not in _NAMED or types is None or operand is None:
        return None
    if len(types.named_children) != 1 or types.named_children[0].type != "type_descriptor":
        return None
    return types.named_children[0], operand


def functional_cast(node: Node) -> tuple[Node, Node] | None:
    """The name T and the operand of what may be a `T(x)` or `T{x}`."""
    if node.type == "compound_literal_expression":
        name, value = node.child_by_field_name("type"), node.child_by_field_name("value")
        if name is None or value is None or name.type == "type_descriptor":
            return None
        operand = sole_value(value)
        return (name, operand) if operand != value else None
    function = node.child_by_field_name("function")
    if node.type != "call_expression" or function is None:
        return None
    argument = _operand(node)
    if argument is None or function.type not in ("identifier", "primitive_type"):
        return None
    return function, argument


def _operand(call: Node) -> Node | None:
    arguments = arguments_of(call)
    return strip_parentheses(arguments[0]) if len(arguments) == 1 else None
