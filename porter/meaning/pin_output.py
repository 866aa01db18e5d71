"""What a write to a port's data register means: which pins change, and to which levels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from porter.judging.unit import Unit
from porter.meaning.expressions import bare, source
from porter.sites.access import Access
from porter.source.c_tree import Node, enclosing_function, text_of, walk
from porter.source.declared import declared_name
from porter.source.scoped_names import whole_name
from porter.source.truth import binary
from porter.source.values import Number, Value

LOW = 0xFFFF


@dataclass(frozen=True)
class Output:
    """C for the pins that change and for their levels; `pins` when the mask is a constant."""

    mask: bytes
    value: bytes
    pins: int | None


def output_of(
    unit: Unit, access: Access, name: str, port: bytes, granted: bytes | None
) -> Output | None:
    """Of a write to the register `name` of a port; `port` and `granted` are its number and the pins
    that the machine may set, in C. None where that can't be told."""
    value = access.value
    if value is None:
        return None
    number = unit.text.evaluator.number(value, access.context.scope)
    text = source(value)
    if name != "ODR" and access.operator not in (b"=", b"|=", b"^=", b"+="):
        return None  # these read as 0
    if name in ("BRR", "BSRRH"):
        return Output(text, b"0", number)
    if name == "BSRRL":
        return Output(text, text, number)
    if name == "BSRR":
        return _set_reset(value, number)
    if access.operator == b"|=":
        return Output(text, text, number)
    if access.operator == b"&=":
        return _cleared(unit, access, value, granted)
    if access.operator == b"=" and granted is not None:
        return Output(granted, text, None)
    if access.operator == b"^=":
        return Output(text, b"~hyp_pin_latch(%s) & (%s)" % (port, text), number)
    return None


def reads_again(unit: Unit, access: Access, output: Output) -> bool:
    """Whether mask and levels read a register, or what an interrupt changes, more often than the
    value that was written."""
    value = access.value
    written, asked = output.mask + b" " + output.value, text_of(value) if value else b""
    for node in walk(value) if value is not None else ():
        name = text_of(node)
        is_again = node.type == "identifier" and written.count(name) > asked.count(name)
        if is_again and not _stays(unit, access, node):
            return True
        if node.type not in ("field_expression", "subscript_expression", "pointer_expression"):
            continue
        register = unit.registers.identify(unit.text.evaluator.value(node, access.context.scope))
        if register is None and not unit.reads_device(node, access.context.scope):
            continue
        if written.count(text_of(node)) > asked.count(text_of(node)):
            return True
    return False


_CASTS = frozenset({b"static_cast", b"reinterpret_cast", b"const_cast"})


def _stays(unit: Unit, access: Access, name: Node) -> bool:
    """Whether a name is sure to be the same if it is read again: a constant, or of the function
    itself and not volatile. What others see an interrupt may change in between, and what a macro is
    given may have effects."""
    text = text_of(name)
    if isinstance(unit.text.evaluator.name(text), Number) or _is_const(unit, text):
        return True
    types = unit.text.evaluator.types
    if text in types.constant_functions or text in _CASTS or _is_scope(name):
        return True
    if unit.text.is_cplusplus and isinstance(_whole_value(unit, access, name), Number):
        return True
    if access.context.kind == "macro":
        return _is_given_constants(unit, access)
    function = enclosing_function(access.whole)
    declared = list(_declarations(function, text)) if function is not None else []
    if unit.text.is_cplusplus and not declared and text not in types.globals:
        return True  # a member, which an object seldom changes
    return (
        function is not None
        and bool(declared)
        and not (
            any(_is_volatile(it) for it in declared)
            or any(text_of(it) == b"&" + text for it in walk(function))
        )
    )


def _is_given_constants(unit: Unit, access: Access) -> bool:
    """Whether all that uses of the macro around an access give it are constants."""
    uses = unit.macro_uses(unit.region(access.site).name or b"")
    return all(it is not None for use in uses for it in use.arguments)


def _declarations(function: Node, name: bytes) -> Iterator[Node]:
    """Where a function declares a parameter or variable of a name."""
    for node in walk(function):
        if node.type in ("declaration", "parameter_declaration"):
            names = (declared_name(it) for it in node.children_by_field_name("declarator"))
            if name in {text_of(it) for it in names if it is not None}:
                yield node


def _is_volatile(declaration: Node) -> bool:
    return any(
        it.type == "type_qualifier" and text_of(it) == b"volatile" for it in walk(declaration)
    )


def _is_scope(name: Node) -> bool:
    """Whether a name is what stands before `::`."""
    parent = name.parent
    is_first = parent is not None and parent.type == "qualified_identifier"
    return is_first and parent is not None and parent.child_by_field_name("scope") == name


def _whole_value(unit: Unit, access: Access, name: Node) -> Value | None:
    """What the qualified name around a name stands for."""
    return unit.text.evaluator.value(whole_name(name), access.context.scope)


def _is_const(unit: Unit, name: bytes) -> bool:
    """Whether a variable outside functions is declared const."""
    declared = unit.text.evaluator.types.globals.get(name)
    declaration = declared[1] if declared is not None else None
    while declaration is not None and declaration.type != "declaration":
        declaration = declaration.parent
    return declaration is not None and any(
        it.type == "type_qualifier" and text_of(it) == b"const" for it in declaration.children
    )


def _set_reset(value: Node, number: int | None) -> Output:
    """BSRR: the low half sets, the high half resets."""
    text = source(value)
    if number is not None:
        pins = (number & LOW) | (number >> 16)
        if number <= LOW:
            return Output(text, text, pins)
        levels = b"0x%04XU" % (number & LOW) if number & LOW else b"0"
        return Output(b"0x%04XU" % pins, levels, pins)
    shifted = binary(bare(value), b"<<")
    if shifted is not None and _plain(shifted[1]) == b"16":
        return Output(source(shifted[0]), b"0", None)
    if shifted is not None and (condition := _sets_when(shifted[1])) is not None:
        mask = source(shifted[0])
        return Output(mask, b"%s ? %s : 0" % (condition, mask), None)
    return Output(b"((%s) | (%s) >> 16) & 0xFFFFU" % (text, text), b"(%s) & 0xFFFFU" % text, None)


def _sets_when(shift: Node) -> bytes | None:
    """C for "set, not reset" of a shift by `c ? 0 : 16` or `c ? 16 : 0`."""
    node = bare(shift)
    condition = node.child_by_field_name("condition")
    arms = [node.child_by_field_name(name) for name in ("consequence", "alternative")]
    if node.type != "conditional_expression" or condition is None or None in arms:
        return None
    values = [_plain(arm) for arm in arms if arm is not None]
    if values == [b"0", b"16"]:
        return source(condition)
    return b"!(%s)" % source(condition) if values == [b"16", b"0"] else None


def _plain(node: Node) -> bytes:
    return text_of(bare(node)).rstrip(b"uUlL")


def _cleared(unit: Unit, access: Access, value: Node, granted: bytes | None) -> Output | None:
    """`ODR &= ~X` resets X; `ODR &= X` resets all the others that the machine has."""
    node = bare(value)
    operand = node.child_by_field_name("argument")
    if node.type == "unary_expression" and text_of(node).startswith(b"~") and operand is not None:
        number = unit.text.evaluator.number(operand, access.context.scope)
        return Output(source(bare(operand)), b"0", number)
    if granted is None:
        return None
    return Output(b"~(%s) & %s" % (source(value), granted), b"0", None)
