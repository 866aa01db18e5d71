"""Macros that are a statement which reads and sets pins, written out for the kernel.

`#define TOGGLE(port, m) do { unsigned now = port->ODR; port->BSRR = (now & m) << 16 | (~now & m); }
while (0)`: what the preprocessor makes of a call, with the kernel's calls in place of registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from porter.judging.unit import Unit
from porter.meaning.expressions import closed_up
from porter.meaning.pin_output import LOW
from porter.meaning.pin_port import port_of
from porter.registers.register import Register
from porter.sites.access import Access
from porter.sites.macro_calls import expansion_of, objects_in
from porter.source.c_tree import PARENTHESES, Node, text_of, walk

READS = {"IDR": b"hyp_pin_get", "ODR": b"hyp_pin_latch"}
_ASSEMBLER = frozenset({"gnu_asm_expression", "ms_asm_block"})
_STATEMENTS = frozenset({"do_statement", "compound_statement"})
MaySet = Callable[[str | None, int | None], bool]
"""Whether pins of a port may be set, as far as both are known."""
_Step = tuple[int, int, bytes]
"""From and to where in the statement stands what."""


def pin_statement(unit: Unit, access: Access, may_set: MaySet) -> bytes | None:
    """What a macro call becomes; None where it isn't such a statement, or does more with registers
    than reading pins and writing BSRR, or sets others than it may."""
    call = unit.text.evaluator.call_text(access.whole)
    tree = expansion_of(access.whole, unit.text.evaluator)
    statement = _statement(tree) if tree is not None else None
    if call is None or tree is None or statement is None:
        return None
    steps: list[_Step] = []
    for place, register in _registers(unit, access, tree):
        made = _made(unit, access, place, register, may_set)
        if made is None:
            return None
        steps += made
    text, begin = text_of(statement), statement.start_byte
    for start, end, new in sorted(steps, reverse=True):
        text = text[: start - begin] + new + text[end - begin :]
    if not call.rstrip().endswith(b";"):  # who uses it writes that
        text = text.rstrip().removesuffix(b";")
    return closed_up(text.rstrip()) if steps else None


def _statement(tree: Node) -> Node | None:
    """The one statement that a text is."""
    body = next((it for it in walk(tree) if it.type == "compound_statement"), None)
    if tree.type == "do_statement" or body is None or body.has_error:
        return None
    if any(it.type in _ASSEMBLER for it in walk(body)):
        return None
    inner = [it for it in body.named_children if text_of(it) != b";"]
    return inner[0] if len(inner) == 1 and inner[0].type in _STATEMENTS else None


def _registers(unit: Unit, access: Access, tree: Node) -> Iterator[tuple[Node, Register]]:
    """Registers, each where the outermost expression is it."""
    inside: set[int] = set()
    for node in objects_in(tree):
        value = unit.text.evaluator.value(node, access.context.scope)
        register = unit.registers.identify(value)
        if register is not None and node.id not in inside:
            inside |= {it.id for it in walk(node)}
            yield node, register


def _made(
    unit: Unit, access: Access, place: Node, register: Register, may_set: MaySet
) -> list[_Step] | None:
    """Instead of one access."""
    port = port_of(unit, place, access.context.scope, register.instance)
    if register.block != "GPIO" or port is None:
        return None
    node, parent = place, place.parent
    while parent is not None and parent.type in PARENTHESES:
        node, parent = parent, parent.parent
    if parent is None or parent.type == "update_expression":
        return None
    if parent.type == "assignment_expression" and parent.child_by_field_name("left") == node:
        sign, value = (parent.child_by_field_name(it) for it in ("operator", "right"))
        around = parent.parent
        is_statement = around is not None and around.type == "expression_statement"
        if register.name != "BSRR" or not is_statement or sign is None or value is None:
            return None
        number = unit.text.evaluator.number(value, access.context.scope)
        pins = None if number is None else (number | number >> 16) & LOW
        if text_of(sign) != b"=" or not may_set(register.instance, pins):
            return None
        call = b"hyp_pin_write(%s, " % port
        return [
            (parent.start_byte, value.start_byte, call),
            (value.end_byte, parent.end_byte, b")"),
        ]
    if parent.type == "pointer_expression" or register.name not in READS:
        return None
    return [(place.start_byte, place.end_byte, b"%s(%s)" % (READS[register.name], port))]
