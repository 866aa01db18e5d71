"""Whether C that a handler calls waits for an interrupt: virtual handlers don't nest, it would
never come.

A loop waits if nothing in it, nor in what it calls, changes what it looks at outside of its
function, or only where it has found that changed. Registers at numbered addresses change by
themselves; one without an end isn't meant to go on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.context_switch.asm_statements import template_of
from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_loops import LOOPS, Loop, ends_of, loops_in
from porter.context_switch.c_nodes import ASM, calls_in, declared_name, is_local
from porter.context_switch.c_stores import is_device
from porter.context_switch.callees import Callees
from porter.context_switch.constant_conditions import never_runs
from porter.context_switch.ir import Call
from porter.context_switch.result import WAITS, NotTranscribable
from porter.context_switch.structure import Node, conditions_and_statements
from porter.context_switch.understood import is_known
from porter.registers.intrinsics import WAIT
from porter.source.c_tree import Node as CNode
from porter.source.c_tree import ancestors, arguments_of, one_line, text_of, walk
from porter.source.mnemonics import CONDITIONAL

_WAITS = re.compile(rb"\b(?:__)?wf[ie]%s\b" % CONDITIONAL.encode(), re.IGNORECASE)
_SETS = frozenset({"assignment_expression", "update_expression", "gnu_asm_output_operand"})
_NAMES = frozenset({"identifier", "field_identifier"})
_PLACES = frozenset({"field_expression", "subscript_expression", "pointer_expression"})
_COPIES = frozenset({b"=", b"|=", b"&="})  # of a local variable, with what it had or without
_READS = frozenset({b"__atomic_load_n", b"__atomic_load"})


def refuse_waits(nodes: tuple[Node, ...], units: CUnits, callees: Callees) -> None:
    """NotTranscribable where C or assembler that a handler calls waits."""
    items = conditions_and_statements(nodes)
    called = [item.function for item in items if isinstance(item, Call)]
    for it in callees.of(called):
        every = (node for part in it.body.definitions for node in _waits(part, callees))
        found = [node for node in every if not never_runs(node, units)]
        text = it.body.assembler if it.body.cplusplus is None else it.body.cplusplus.text
        if found or _WAITS.search(text):
            what = f", '{one_line(found[0])}'" if found else ""
            raise NotTranscribable(
                f"{it.road}, which waits for an interrupt{what}: no other "
                "runs meanwhile; the wait belongs into an idle task, as hyp_vct_wait()",
                WAITS,
            )


def _waits(definition: CNode, callees: Callees) -> Iterator[CNode]:
    for loop in loops_in(definition, callees):
        if _looks_in_vain(loop, definition, callees):
            yield loop.node
    for node in walk(definition):
        callee = node.child_by_field_name("function")
        is_call = node.type == "call_expression" and callee is not None
        is_wait = is_call and callee is not None and text_of(callee).decode("latin-1") in WAIT
        if is_wait or (node.type in ASM and _WAITS.search(template_of(node))):
            loops = [it for it in ancestors(node) if it.type in LOOPS]
            if all(ends_of(it) for it in loops):
                yield node


def _looks_in_vain(loop: Loop, definition: CNode, callees: Callees) -> bool:
    """Whether nothing in a loop changes what its end depends on, memory among it."""
    called = list(callees.within(*loop.parts))
    if any(map(callees.calls_nobody_knows, loop.parts)):
        return False
    if any(not it.body.is_in_c_alone and not _is_known(it.name.encode("latin-1")) for it in called):
        return False  # whatever that does
    looked = {name for end in loop.ends for name in _looked_at(end)}
    for found in (part for it in callees.within(*loop.ends) for part in it.body.definitions):
        looked |= {name for name in _looked_at(found) if not is_local(found, name)}
    by_pointer = any(_is_pointed_at(node) for end in loop.ends for node in walk(end))
    leads = _pointers(definition)
    looked |= {name for of in looked & leads.keys() for name in leads[of]}
    changed = {name for it in called for part in it.body.definitions for name, *_ in _changed(part)}
    own = [it for part in loop.parts for it in _changed(part) if not _begins(it[2], loop.node)]
    everything = changed | {name for name, *_ in own}
    copied: dict[bytes, set[bytes]] = {}
    for name, value, node in own:
        if awaited := _awaited(node, loop, definition, everything):
            looked |= awaited if name in looked else set()
        elif value is not None and is_local(definition, name):
            copied.setdefault(name, set()).update(_looked_at(value))
        else:
            changed.add(name)
    for _ in copied:  # what is calculated from what changes, changes
        changed |= {name for name, of in copied.items() if not of or of & (changed | {name})}
        looked |= {of for name in looked & copied.keys() for of in copied[name]}
    changed |= {name for of in changed & leads.keys() for name in leads[of]}
    is_outside = by_pointer or any(not is_local(definition, name) for name in looked)
    return is_outside and not changed & looked


def _is_known(name: bytes) -> bool:
    return is_known(name) or name in _READS


def _begins(change: CNode, loop: CNode) -> bool:
    """Whether a change comes before the first round."""
    first = loop.child_by_field_name("initializer")
    return first is not None and first.start_byte <= change.start_byte < first.end_byte


def _awaited(change: CNode, loop: Loop, definition: CNode, changed: set[bytes]) -> set[bytes]:
    """What has to be another before a change comes, and isn't changed in the loop."""
    for around in ancestors(change):
        asked = around.child_by_field_name("condition")
        if around.type == "if_statement" and asked is not None:
            names = set(_looked_at(asked))
            is_else = around.child_by_field_name("alternative") is not None
            is_outside = any(not is_local(definition, it) for it in names)
            is_call = next(calls_in(asked), None) is not None
            if is_outside and not is_else and not is_call and not names & changed:
                return names
        if around in loop.parts:
            break
    return set()


def _pointers(definition: CNode) -> dict[bytes, set[bytes]]:
    """Local variables that may hold the address of a variable."""
    found: dict[bytes, set[bytes]] = {}
    for name, value, _ in _changed(definition):
        if value is not None and text_of(value).startswith(b"&") and is_local(definition, name):
            found.setdefault(name, set()).update(_looked_at(value))
    return found


def _is_pointed_at(node: CNode) -> bool:
    """Whether an expression is memory that a variable leads to."""
    is_content = node.type == "pointer_expression" and text_of(node).startswith(b"*")
    return is_content and not is_device(node)


def _looked_at(part: CNode) -> Iterator[bytes]:
    """Names of what it depends on, except for devices and what is calculated for nothing."""
    away = [node for node in walk(part) if node.type in _PLACES and is_device(node)]
    away += [left for node in walk(part) if node.type == "comma_expression"
             and (left := node.child_by_field_name("left")) is not None]  # fmt: skip
    for node in walk(part):
        parent = node.parent
        is_callee = parent is not None and parent.child_by_field_name("function") == node
        is_away = any(it.start_byte <= node.start_byte < it.end_byte for it in away)
        if node.type in _NAMES and not is_callee and not is_away:
            yield text_of(node)


def _changed(part: CNode) -> Iterator[tuple[bytes, CNode | None, CNode]]:
    """Names of what may be set in it; with the value if it is a copy, and where."""
    for node in walk(part):
        if node.type == "init_declarator":
            name = declared_name(node.child_by_field_name("declarator"))
            if name is not None:
                yield text_of(name), node.child_by_field_name("value"), node
            continue
        is_taken = node.type == "pointer_expression" and text_of(node).startswith(b"&")
        if node.type not in _SETS and not (is_taken and not _is_only_read(node)):
            continue
        place = node.child_by_field_name("left") or node.child_by_field_name("argument") or node
        sign = node.child_by_field_name("operator")
        is_plain = node.type == "assignment_expression" and sign is not None
        is_copy = is_plain and sign is not None and text_of(sign) in _COPIES
        for it in walk(place):
            if it.type in _NAMES:
                is_all = is_copy and it == place
                yield text_of(it), node.child_by_field_name("right") if is_all else None, node


def _is_only_read(address: CNode) -> bool:
    """Whether an address goes to what only reads there."""
    call = address.parent.parent if address.parent is not None else None
    callee = call.child_by_field_name("function") if call is not None else None
    if call is None or callee is None or text_of(callee) not in _READS:
        return False
    return arguments_of(call)[0] == address
