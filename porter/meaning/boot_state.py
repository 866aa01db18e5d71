"""Reads of registers that only the boot table writes: their values are in the description.

A machine starts with its clocks set up, as it would after a loader that set them up and locked the
registers. What it asks them then is known: a read becomes the register's value, if every bit that
the code can see of it is certain.
"""

from __future__ import annotations

from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.program.macro_uses import MacroUse
from porter.project.domain import BootRegister
from porter.sites.access import Access
from porter.source.arithmetic import word
from porter.source.c_tree import PARENTHESES, Node, parts_of, text_of
from porter.source.edit import Edit
from porter.source.evaluate import Scope
from porter.source.truth import binary
from porter.source.values import Place, Value

_ALL = 0xFFFF_FFFF
_AROUND = PARENTHESES | {"cast_expression"}


def known_read(unit: Unit, access: Access) -> Edit | None:
    """The edit that puts the register's value where it is read; None if it isn't certain."""
    register = _register(unit, access)
    if register is None or access.use != "read":
        return None
    if _bits_seen(unit, access) & ~register.known:
        return None
    start, end = access.context.start(access.place), access.context.end(access.place)
    return Edit(start, end, register.name.encode())


def who_asks(unit: Unit, access: Access) -> str | None:
    """The first use of a macro that makes it read bits which are not certain."""
    if access.context.kind != "macro" or access.use != "read":
        return None
    macro = unit.text.evaluator.macros.get(access.context.name.encode("latin-1"))
    if macro is None or not macro.parameters:
        return None
    register = _register(unit, access)
    known = register.known if register is not None else 0
    for use in unit.macro_uses(macro.name):
        if _bits_in(unit, access, _scope(macro.parameters, use)) & ~known:
            file = use.text.file
            call = b" ".join(file.data[use.start : use.end].split()).decode("latin-1")
            return f"{call} in {file.name}:{file.line(use.start)}"
    return None


def never_asked(unit: Unit, access: Access) -> bool:
    """Whether a macro reads a register only for arguments that no use of it has."""
    return access.context.kind == "macro" and access.use == "read" and _bits_seen(unit, access) == 0


def idle_askers(unit: Unit, access: Access) -> Iterator[tuple[MacroUse, str]]:
    """Uses that make a macro read a register, in code that the program has and never runs."""
    macro = unit.text.evaluator.macros.get(access.context.name.encode("latin-1"))
    if macro is not None and macro.parameters:
        for use, reason in unit.idle_uses(macro.name):
            if _bits_in(unit, access, _scope(macro.parameters, use)):
                yield use, reason


def _register(unit: Unit, access: Access) -> BootRegister | None:
    value = unit.text.evaluator.value(access.place, access.context.scope)
    if unit.domain is None or not isinstance(value, Place) or value.address is None:
        return None
    # A byte of a register, or one of several, is not the register's value.
    whole = value.exact and value.type.kind != "array" and value.type.size in (0, 4)
    return unit.domain.register_at(value.address) if whole else None


def _bits_seen(unit: Unit, access: Access) -> int:
    """Bits that the code may see of a read; of a macro's read, with all arguments it is given."""
    if access.context.kind != "macro":
        return _bits_in(unit, access, access.context.scope)
    parameters = unit.text.evaluator.macros.get(access.context.name.encode("latin-1"))
    if parameters is None or not parameters.parameters:
        return _bits_in(unit, access, access.context.scope)
    seen = 0
    for use in unit.macro_uses(parameters.name):
        seen |= _bits_in(unit, access, _scope(parameters.parameters, use))
    return seen


def _scope(parameters: tuple[bytes, ...], use: MacroUse) -> Scope:
    values = dict(zip(parameters, use.arguments, strict=False))

    def scope(name: bytes) -> Value | None:
        number = values.get(name)
        return word(number) if number is not None else None

    return scope


def _bits_in(unit: Unit, access: Access, scope: Scope) -> int:
    """Bits seen for one set of arguments, 0 where another arm of a `?:` is taken."""
    evaluator = unit.text.evaluator
    node = access.place
    while (parent := node.parent) is not None:
        if parent.type == "conditional_expression":
            condition = parent.child_by_field_name("condition")
            if condition is None or condition == node:
                return _ALL
            value = evaluator.number(condition, scope)
            taken = parent.child_by_field_name("consequence" if value else "alternative")
            if value is not None and taken != node:
                return 0
        elif (sides := binary(parent, b"&")) is not None:
            mask = evaluator.number(sides[1] if sides[0] == node else sides[0], scope)
            return mask if mask is not None else _ALL
        elif (macro := _masked_by_macro(unit, parent, scope)) is not None:
            return macro
        elif parent.type not in _AROUND:
            return _ALL
        node = parent
    return _ALL


def _masked_by_macro(unit: Unit, node: Node, scope: Scope) -> int | None:
    """The mask of `READ_BIT(register, MASK)`."""
    call = node.parent if node.type == "argument_list" else None
    function = call.child_by_field_name("function") if call is not None else None
    if call is None or function is None:
        return None
    macro = unit.text.evaluator.macros.get(text_of(function))
    arguments = parts_of(node)
    if macro is None or macro.parameters is None or len(macro.parameters) != 2:
        return None
    register, mask = macro.parameters
    words = [text for text in macro.text if text not in (b"(", b")")]
    if words not in ([register, b"&", mask], [mask, b"&", register]) or len(arguments) != 2:
        return None
    return unit.text.evaluator.number(arguments[1 if words[0] == register else 0], scope)
