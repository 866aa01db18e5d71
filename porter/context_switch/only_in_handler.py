"""Whether what chooses the next task may only run in a handler, on a frame that a handler saved.

A fast yield runs it in user mode. IPSR is 0 there; and the yielding task's frame has a mark in
place of EXC_RETURN and no exception frame above it, so nobody may look into it.
"""

from __future__ import annotations

import re
from itertools import pairwise

from porter.context_switch.c_flow import CUnits, function_name
from porter.context_switch.ir import Call, Load, Symbol
from porter.context_switch.pick import Pick
from porter.context_switch.structure import conditions_and_statements
from porter.context_switch.walk import reads, subexpressions, variables
from porter.sites.intrinsics import IN_INTERRUPT
from porter.source.c_tree import Node, ancestors, text_of, walk

_ASM = frozenset({"gnu_asm_expression", "asm_statement"})
_MODE = re.compile(
    rb"\bmrs\w*\s+[^,;\n]+,\s*(?:(?:i|x|ia|ie|ea)psr|control|psp|msp)\b", re.IGNORECASE
)
_ICSR = 0xE000_ED04
_STEPS = (b"+", b"-")


def only_in_handler(pick: Pick, units: CUnits) -> str:
    """Why a pick is nothing for a fast yield; "" where nothing is known to say so. What is called
    through pointers isn't looked at."""
    stacks: list[Node] = []
    waiting: list[bytes] = []
    variables_of_task: set[str] = set()
    for item in conditions_and_statements(pick.nodes):
        for expr in (part for read in reads(item) for part in subexpressions(read)):
            if isinstance(expr, Load) and isinstance(expr.address, Symbol):
                variables_of_task.add(expr.address.name)
        if isinstance(item, Call):
            waiting.append(item.function.encode())
            for place, argument in enumerate(item.arguments):
                if pick.parameter in variables(argument):
                    stacks += units.parameter_uses(waiting[-1], place)
    reached = _reached(waiting, units)
    for name, definitions in reached.items():
        if any(map(_asks_mode, definitions)) or _MODE.search(units.assembler_text(name) or b""):
            return f"{name.decode()}(), which choosing a task may call, asks for the handler's mode"
    fields = {field for name in variables_of_task for field in _first_fields(name, units)}
    inside = {definition.id for definitions in reached.values() for definition in definitions}
    for field in fields:
        for node in units.named(field):
            around = next((it for it in ancestors(node) if it.type == "function_definition"), None)
            whole = node.parent if node.type == "field_identifier" else None
            if around is not None and around.id in inside and whole is not None:
                stacks.append(whole)
    for node, parent in units.ends(stacks):
        if _looks_into(node, parent, units):
            where = next(it for it in ancestors(node) if it.type == "function_definition")
            return (
                f"{function_name(where).decode()}(), which choosing a task may call, looks into "
                "saved frames"
            )
    return ""


def _reached(names: list[bytes], units: CUnits) -> dict[bytes, list[Node]]:
    """Functions that are called from these on, with their definitions in C."""
    found: dict[bytes, list[Node]] = {}
    while names:
        name = names.pop()
        if name in found:
            continue
        found[name] = units.definitions(name)
        for definition in found[name]:
            for node in walk(definition):
                callee = node.child_by_field_name("function")
                if node.type == "call_expression" and callee is not None:
                    names.append(text_of(callee))
    return found


def _asks_mode(definition: Node) -> bool:
    """Whether a function reads IPSR, the stack pointers or ICSR itself."""
    for node in walk(definition):
        if node.type in _ASM and _MODE.search(text_of(node)):
            return True
        if node.type == "identifier" and text_of(node).decode("latin-1") in IN_INTERRUPT:
            return True
        if _is_icsr(node) and not _is_written(node):
            return True
    return False


def _is_icsr(node: Node) -> bool:
    if node.type == "number_literal":
        return text_of(node).rstrip(b"uUlL").lower() == b"0xe000ed04"
    return node.type == "field_identifier" and text_of(node) == b"ICSR"


def _is_written(node: Node) -> bool:
    """Whether a register stands left of an assignment."""
    for inner, outer in pairwise([node, *ancestors(node)]):
        if outer.type == "assignment_expression":
            return outer.child_by_field_name("left") == inner
        if outer.type.endswith("statement"):
            return False
    return False


def _first_fields(variable: str, units: CUnits) -> set[bytes]:
    """Names of the first member of what a variable points to, or is cast to."""
    types: set[bytes] = set()
    for node in units.named(variable.encode()):
        for around in ancestors(node):
            if around.type in ("declaration", "cast_expression"):
                kind = around.child_by_field_name("type")
                types |= _type_names(kind) if kind is not None else set()
            if around.type.endswith(("declaration", "statement")):
                break
    return {field for name in types for field in _members(name, units)}


def _type_names(kind: Node) -> set[bytes]:
    return {text_of(node) for node in walk(kind) if node.type == "type_identifier"}


def _members(name: bytes, units: CUnits) -> set[bytes]:
    """The first member of each struct of a tag or a typedef."""
    found: set[bytes] = set()
    for node in units.named(name):
        parent = node.parent
        if parent is None or parent.type not in ("struct_specifier", "type_definition"):
            continue
        kind = parent if parent.type == "struct_specifier" else parent.child_by_field_name("type")
        if kind is None or kind.type != "struct_specifier":
            continue
        body, tag = kind.child_by_field_name("body"), kind.child_by_field_name("name")
        if body is None and tag is not None and text_of(tag) != name:
            found |= _members(text_of(tag), units)
        if body is not None and body.named_child_count:
            first = next(iter(it for it in walk(body.named_children[0])
                              if it.type == "field_identifier"), None)  # fmt: skip
            found |= {text_of(first)} if first is not None else set()
    return found


def _looks_into(node: Node, parent: Node, units: CUnits) -> bool:
    """Whether a stack pointer is followed, or handed to somebody who may do that."""
    if parent.type == "binary_expression":
        sign = text_of(parent.child_by_field_name("operator") or parent)
        return sign in _STEPS and any(
            _looks_into(inner, outer, units) for inner, outer in units.ends([parent])
        )
    if parent.type in ("subscript_expression", "field_expression"):
        return parent.child_by_field_name("argument") == node
    if parent.type == "pointer_expression":
        return text_of(parent).startswith(b"*")
    return parent.type in ("argument_list", "update_expression")
