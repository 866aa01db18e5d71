"""Whether C that a handler calls waits for an interrupt: virtual handlers don't nest, it would
never come.

A loop waits if nothing in it, nor in what it calls, changes what it looks at outside of its
function. Registers at numbered addresses change by themselves; one without an end isn't meant to
go on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.context_switch.asm_statements import template_of
from porter.context_switch.c_nodes import ASM, declared_name, is_local
from porter.context_switch.c_stores import is_device
from porter.context_switch.callees import Callees
from porter.context_switch.ir import Call
from porter.context_switch.result import WAITS, NotTranscribable
from porter.context_switch.structure import Node, conditions_and_statements
from porter.context_switch.understood import is_known
from porter.registers.intrinsics import WAIT
from porter.source.c_tree import Node as CNode
from porter.source.c_tree import ancestors, one_line, text_of, walk

_LOOPS = frozenset({"while_statement", "do_statement", "for_statement"})
_WAITS = re.compile(rb"\b(?:__)?wf[ie]\b", re.IGNORECASE)
_SETS = frozenset({"assignment_expression", "update_expression", "gnu_asm_output_operand"})
_NAMES = frozenset({"identifier", "field_identifier"})
_PLACES = frozenset({"field_expression", "subscript_expression", "pointer_expression"})


def refuse_waits(nodes: tuple[Node, ...], callees: Callees) -> None:
    """NotTranscribable where C or assembler that a handler calls waits."""
    items = conditions_and_statements(nodes)
    called = [item.function for item in items if isinstance(item, Call)]
    for it in callees.of(called):
        found = [node for definition in it.body.definitions for node in _waits(definition, callees)]
        text = it.body.assembler if it.body.cplusplus is None else it.body.cplusplus.text
        if found or _WAITS.search(text):
            what = f", '{one_line(found[0])}'" if found else ""
            raise NotTranscribable(
                f"{it.road}, which waits for an interrupt{what}: no other "
                "runs meanwhile; the wait belongs into an idle task, as hyp_vct_wait()",
                WAITS,
            )


def _waits(definition: CNode, callees: Callees) -> Iterator[CNode]:
    for node in walk(definition):
        if node.type in _LOOPS and _looks_in_vain(node, definition, callees):
            yield node
        callee = node.child_by_field_name("function")
        is_call = node.type == "call_expression" and callee is not None
        is_wait = is_call and callee is not None and text_of(callee).decode("latin-1") in WAIT
        if is_wait or (node.type in ASM and _WAITS.search(template_of(node))):
            loops = [it for it in ancestors(node) if it.type in _LOOPS]
            if all(_ends(it) for it in loops):
                yield node


def _looks_in_vain(loop: CNode, definition: CNode, callees: Callees) -> bool:
    """Whether nothing in a loop changes what its end depends on, memory among it."""
    called = list(callees.within(loop))
    if callees.calls_nobody_knows(loop):
        return False
    if any(not it.body.is_in_c_alone and not is_known(it.name.encode("latin-1")) for it in called):
        return False  # whatever that does
    looked = {name for end in _ends(loop) for name in _looked_at(end)}
    for end in _ends(loop):
        for found in (part for it in callees.within(end) for part in it.body.definitions):
            looked |= {name for name in _looked_at(found) if not is_local(found, name)}
    changed = {name for it in called for part in it.body.definitions for name, _ in _changed(part)}
    copied: dict[bytes, set[bytes]] = {}
    for name, value in _changed(loop):
        if value is not None and is_local(definition, name):
            copied.setdefault(name, set()).update(_looked_at(value))
        else:
            changed.add(name)
    for _ in copied:  # what is calculated from what changes, changes
        changed |= {name for name, of in copied.items() if not of or of & (changed | {name})}
        looked |= {of for name in looked & copied.keys() for of in copied[name]}
    return any(not is_local(definition, name) for name in looked) and not changed & looked


def _ends(loop: CNode) -> list[CNode]:
    """Conditions by which a loop is left."""
    found = [loop.child_by_field_name("condition")]
    for node in walk(loop):
        if node.type in ("break_statement", "return_statement", "goto_statement"):
            for around in ancestors(node):
                if around == loop:
                    break
                is_asked = around.type in ("if_statement", "switch_statement")
                found += [around.child_by_field_name("condition")] if is_asked else []
    return [it for it in found if it is not None and any(node.type in _NAMES for node in walk(it))]


def _looked_at(part: CNode) -> Iterator[bytes]:
    """Names of what it depends on, except for devices."""
    devices = [node for node in walk(part) if node.type in _PLACES and is_device(node)]
    for node in walk(part):
        parent = node.parent
        is_callee = parent is not None and parent.child_by_field_name("function") == node
        is_own = any(it.start_byte <= node.start_byte < it.end_byte for it in devices)
        if node.type in _NAMES and not is_callee and not is_own:
            yield text_of(node)


def _changed(part: CNode) -> Iterator[tuple[bytes, CNode | None]]:
    """Names of what may be set in it; with the value if it is a copy."""
    for node in walk(part):
        if node.type == "init_declarator":
            name = declared_name(node.child_by_field_name("declarator"))
            if name is not None:
                yield text_of(name), node.child_by_field_name("value")
            continue
        is_taken = node.type == "pointer_expression" and text_of(node).startswith(b"&")
        if node.type not in _SETS and not is_taken:
            continue
        place = node.child_by_field_name("left") or node.child_by_field_name("argument") or node
        sign = node.child_by_field_name("operator")
        is_plain = node.type == "assignment_expression" and sign is not None
        is_copy = is_plain and sign is not None and text_of(sign) == b"="
        for it in walk(place):
            if it.type in _NAMES:
                is_all = is_copy and it == place
                yield text_of(it), node.child_by_field_name("right") if is_all else None
