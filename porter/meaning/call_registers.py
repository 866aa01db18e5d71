"""What a function hands to an asm statement in registers, or takes from it, without saying so in C.

`void send(int to, void *what) { asm("svc 2"); }`: the handler finds r0 and r1 in its frame as the
caller of send() set them (Procedure Call Standard for the Arm Architecture, 6.4), and what it puts
there is what a caller gets. virt_svc() is a call with an argument of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.judging.unit import Unit
from porter.program.c_text import CText
from porter.sites.context import Context, function_name
from porter.source.c_tree import Node, ancestors, text_of, walk
from porter.source.declarations import parameter_list
from porter.source.declared import parameter_names

_REGISTER = re.compile(rb"\b_*asm_*\s*\(\s*\"(?:r[0-3]|a[0-7])\"\s*\)")
_ENDS_THERE = re.compile(rb"(?:\s|;|\}|\([^()]*\)|/\*.*?\*/|//[^\n]*)*", re.DOTALL)
_NO_WORD = re.compile(rb"\b(?:double|float|u?int64_t|long\s+long|struct|union)\b(?![^*]*\*)")
_USES = frozenset(
    {"assignment_expression", "init_declarator", "argument_list", "update_expression",
     "return_statement", "gnu_asm_input_operand", "gnu_asm_output_operand"}
)  # fmt: skip
_ENDS = frozenset({"compound_statement", "function_definition", "parameter_list"})


def handed_over(unit: Unit, context: Context | None, start: int, end: int) -> str:
    """Who hands something over in registers where a call is made, at [start, end), and what; "" for
    nobody. The call is in a function, or in a macro that functions use."""
    if context is None:
        return ""
    if context.kind == "function":
        what = _handed(context.root, unit.file.data[end : context.end(context.root)])
        return what and f"where {what}"
    for text, function, behind in _users(unit, context.name.encode("latin-1")):
        if what := _handed(function, behind):
            return f"used in {text.file.name}, where {what}"
    return ""


def first_parameter(function: Node, statement: Node) -> bytes:
    """The parameter that is in r0 where a function begins with a statement; b"" for none."""
    listed = parameter_list(function)
    begins = statement.prev_named_sibling is None and (
        statement.parent == function.child_by_field_name("body")
    )
    if listed is None or not listed.named_children or not begins:
        return b""
    is_word = not _NO_WORD.search(text_of(listed.named_children[0]))
    return next(iter(parameter_names(function)), b"") if is_word else b""


def _users(unit: Unit, macro: bytes) -> Iterator[tuple[CText, Node, bytes]]:
    """Functions that use a macro, and what stands behind a use in them."""
    for use in unit.places_of_macro(macro):
        found = use.text.trees.function_at(use.start, use.end)
        if found is not None:
            tree, function = found
            yield use.text, function, use.text.file.data[use.end : tree.end(function)]


def _handed(function: Node, behind: bytes) -> str:
    name = function_name(function)
    if not name:
        return ""  # misread: what looks like one
    for parameter in parameter_names(function):
        if parameter and not any(map(_is_used, _named(function, parameter))):
            return f"{name}() leaves its parameter {parameter.decode('latin-1')} where it came"
    if _REGISTER.search(text_of(function)):
        return f"{name}() puts variables into registers by their names"
    if _has_result(function) and _ENDS_THERE.fullmatch(behind):
        return f"the result of {name}() is what a register holds at its end"
    return ""


def _named(function: Node, name: bytes) -> Iterator[Node]:
    body = function.child_by_field_name("body")
    for node in walk(body) if body is not None else ():
        if node.type == "identifier" and text_of(node) == name:
            yield node


def _is_used(name: Node) -> bool:
    """Whether C itself does something with a value, more than to look at it or to cast it away."""
    inner = name
    for around in ancestors(name):
        if around.type in _USES:
            return around.type != "assignment_expression" or (
                around.child_by_field_name("right") == inner
            )
        if around.type in _ENDS:
            return False
        inner = around
    return False


def _has_result(function: Node) -> bool:
    kind = function.child_by_field_name("type")
    declarator = function.child_by_field_name("declarator")
    is_pointer = declarator is not None and declarator.type == "pointer_declarator"
    return kind is not None and (text_of(kind) != b"void" or is_pointer)
