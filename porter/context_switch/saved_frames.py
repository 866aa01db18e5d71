"""Whether C of a project follows a saved stack pointer, to a frame that a handler put there.

A task that yielded in user mode has a mark in place of EXC_RETURN and no exception frame above it.
A result that somebody writes to its r0, or its pc in a monitor, would be something else there.
What a new task's frame is made of doesn't count: its stack pointer is saved only then.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from porter.context_switch.c_flow import CUnits, function_name, is_local
from porter.context_switch.ir import Assign, Binary, Call, Const, Expr, Load, Store, Symbol
from porter.context_switch.pick import Pick
from porter.context_switch.structure import conditions_and_statements
from porter.context_switch.walk import parts, rewrite, variables
from porter.source.c_tree import Node, ancestors, enclosing_function, one_line, text_of, walk

_STEPS = (b"+", b"-")
_ACCESS = re.compile(rb"\b(?:ld|st)[rm]\w*\s", re.IGNORECASE)
_STRUCT = "struct_specifier"


def follows_saved(pick: Pick, units: CUnits) -> str:
    """Which function does, and where; "" where none is known."""
    for node, parent in _followed(_starts(pick, units), units):
        around = enclosing_function(node)
        if around is not None:
            name = function_name(around).decode()
            return f"{name}() looks into saved frames: '{one_line(parent)}'"
    return ""


def _starts(pick: Pick, units: CUnits) -> list[Node]:
    """Reads of what the handler saves the stack pointer to, and of parameters that are it."""
    found: list[Node] = []
    values: dict[str, Expr] = {}
    for item in conditions_and_statements(pick.nodes):
        if isinstance(item, Assign):
            values[item.target] = _known(item.value, values)
        elif isinstance(item, Store):
            if pick.parameter in variables(_known(item.value, values)):
                found += _saved_at(_known(item.address, values), units)
        elif isinstance(item, Call):
            for place, argument in enumerate(item.arguments):
                if pick.parameter in variables(_known(argument, values)):
                    found += units.parameter_uses(item.function.encode(), place)
    return found


def _known(expr: Expr, values: dict[str, Expr]) -> Expr:
    return rewrite(expr, lambda variable: values.get(variable.name, variable))


def _saved_at(address: Expr, units: CUnits) -> list[Node]:
    """Reads in C of the word at an address: of a variable, of an array's elements, of a member of
    what a variable points to or consists of."""
    offset = 0
    if isinstance(address, Binary) and isinstance(address.right, Const):
        offset, address = address.right.value, address.left
    found: list[Node] = []
    for name, is_pointer in _symbols(address):
        fields = _fields_at(name, offset, units)
        reads = [node.parent for field in fields for node in units.named(field)
                 if node.type == "field_identifier" and not _is_new(node)]  # fmt: skip
        found += [it for it in reads if it is not None and it.type == "field_expression"]
        for node in units.reads(name.encode()) if not fields and not is_pointer else ():
            around = node.parent
            is_element = around is not None and around.type == "subscript_expression"
            found += [around if is_element and around is not None else node]
    return found


def _symbols(expr: Expr) -> Iterator[tuple[str, bool]]:
    """Names in an address, and whether it is what they point to."""
    is_pointer = isinstance(expr, Load)
    if isinstance(expr, Symbol):
        yield expr.name, False
    for part in parts(expr):
        for name, inner in _symbols(part):
            yield name, inner or is_pointer


def _is_new(field: Node) -> bool:
    """Whether its function has just set this very member: to a stack without a saved frame."""
    read = field.parent
    if read is None or read.type != "field_expression":
        return False
    inside = read
    for around in ancestors(read):
        if around.type == "compound_statement":
            for earlier in around.named_children:
                if earlier.end_byte <= inside.start_byte and _sets(earlier, read, field):
                    return not _changes_between(earlier, read, around)
        if around.type == "function_definition":
            break
        inside = around
    return False


def _sets(statement: Node, read: Node, field: Node) -> bool:
    """Whether a statement gives a member a value that isn't one it had."""
    inner = statement.named_children[0] if statement.named_child_count else statement
    left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
    sign = inner.child_by_field_name("operator")
    if inner.type != "assignment_expression" or left is None or right is None or sign is None:
        return False
    if text_of(sign) != b"=" or _bare(left) != _bare(read):
        return False
    return all(text_of(node) != text_of(field) for node in walk(right))


def _changes_between(setting: Node, read: Node, block: Node) -> bool:
    """Whether the member may be another's by then: its owner's name, or what a call may change."""
    owner = read.child_by_field_name("argument")
    names = {text_of(node) for node in walk(owner) if node.type == "identifier"} if owner else set()
    function = enclosing_function(block)
    is_own = function is not None and all(is_local(function, name) for name in names)
    for node in walk(block):
        if not setting.end_byte <= node.start_byte < read.start_byte:
            continue
        if node.type == "call_expression" and node.end_byte <= read.start_byte and not is_own:
            return True
        left = node.child_by_field_name("left") or node.child_by_field_name("argument")
        is_set = node.type in ("assignment_expression", "update_expression")
        if is_set and left is not None and left.type == "identifier" and text_of(left) in names:
            return True
    return False


def _bare(node: Node) -> bytes:
    return b"".join(text_of(node).split())


def _followed(starts: Iterable[Node], units: CUnits) -> Iterator[tuple[Node, Node]]:
    """Where a stack pointer is followed, or handed to somebody who may do that. A distance of two
    pointers may be handed to anybody."""
    waiting, distances, seen = list(starts), list[Node](), set[int]()
    while waiting or distances:
        ends = [(*end, False) for end in units.ends(waiting)]
        ends += [(*end, True) for end in units.ends(distances)]
        waiting, distances = [], []
        for node, parent, is_distance in ends:
            if parent.type == "binary_expression":
                sign = text_of(parent.child_by_field_name("operator") or parent)
                if sign in _STEPS and parent.id not in seen:
                    seen.add(parent.id)
                    (distances if is_distance or sign == b"-" else waiting).append(parent)
            elif _looks_into(node, parent) and not (is_distance and parent.type == "argument_list"):
                yield node, parent


def _looks_into(node: Node, parent: Node) -> bool:
    if parent.type in ("subscript_expression", "field_expression"):
        return parent.child_by_field_name("argument") == node
    if parent.type == "pointer_expression":
        return text_of(parent).startswith(b"*")
    if parent.type == "gnu_asm_input_operand":
        whole = next(it for it in ancestors(parent) if it.type == "gnu_asm_expression")
        return _ACCESS.search(text_of(whole)) is not None
    return parent.type in ("argument_list", "update_expression")


def _fields_at(variable: str, offset: int, units: CUnits) -> set[bytes]:
    """Names of the member at an offset in what a variable is, points to, or is cast to."""
    types: set[bytes] = set()
    for node in units.named(variable.encode()):
        for around in ancestors(node):
            if around.type in ("declaration", "cast_expression"):
                kind = around.child_by_field_name("type")
                types |= _type_names(kind) if kind is not None else set()
            if around.type.endswith(("declaration", "statement")):
                break
    found: set[bytes] = set()
    for name in types:
        members = [field for body in _bodies(name, units) for field in _members(body)]
        for place, field in members:
            if units.offset_of(name, field) == offset if offset else place == 0:
                found.add(field)
    return found


def _type_names(kind: Node) -> set[bytes]:
    return {text_of(node) for node in walk(kind) if node.type == "type_identifier"}


def _bodies(name: bytes, units: CUnits) -> Iterator[Node]:
    """The members of each struct of a tag or a typedef."""
    for node in units.named(name):
        parent = node.parent
        if parent is None or parent.type not in (_STRUCT, "type_definition"):
            continue
        kind = parent if parent.type == _STRUCT else parent.child_by_field_name("type")
        if kind is not None and kind.type == "type_identifier" and kind != node:
            yield from _bodies(text_of(kind), units)
        if kind is None or kind.type != _STRUCT:
            continue
        body, tag = kind.child_by_field_name("body"), kind.child_by_field_name("name")
        if body is None and tag is not None and text_of(tag) != name:
            yield from _bodies(text_of(tag), units)
        if body is not None and body.named_child_count:
            yield body


def _members(body: Node) -> Iterator[tuple[int, bytes]]:
    """With their place; the first of each declaration."""
    for place, declaration in enumerate(body.named_children):
        named = (it for it in walk(declaration) if it.type == "field_identifier")
        first = next(named, None)
        if first is not None:
            yield place, text_of(first)
