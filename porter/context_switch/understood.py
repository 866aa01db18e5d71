"""Whether everything that choosing a task may do was read, and is harmless in user mode.

A fast yield saves time, so in doubt there is none. Whatever choosing may call has a body in the
project's C, which calls functions by their names, writes to variables, members and elements only,
doesn't look where its own stack is, and has no other asm than what calculates, waits for memory or
takes a lock. Or it is an assembler function that only calculates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import ASM, calls_in, own_variables
from porter.context_switch.c_stores import Stores
from porter.context_switch.callees import Callees
from porter.registers.intrinsics import (
    BASEPRI_RAISE,
    BASEPRI_READ,
    BASEPRI_WRITE,
    MASK_CLEAR,
    MASK_READ,
    MASK_SET,
    MASK_WRITE,
)
from porter.source.c_tree import Node, one_line, text_of, walk

_KNOWN = frozenset(name.encode() for name in MASK_SET | MASK_CLEAR | MASK_READ | MASK_WRITE
                   | BASEPRI_READ | BASEPRI_WRITE | BASEPRI_RAISE)  # fmt: skip
_CALCULATES = re.compile(
    rb"__builtin_(?:clz|ctz|ffs|popcount|parity|bswap\d*|expect|unreachable|constant_p)l*"
    rb"|__(?:CLZ|RBIT|REV|ISB|DSB|DMB|NOP|COMPILER_BARRIER)"
)
_STRING = re.compile(rb'"((?:[^"\\]|\\.)*)"')
_BREAKS = re.compile(rb"\\[nr]|[\n;]")
_HARMLESS = re.compile(
    rb"(?:dsb|dmb|isb)(?:\s+\w+)?|nop|cpsi[de]\s+i|bx\s+lr|\.(?:syntax|align|balign)\s+\w+"
    rb"|msr\s+(?:primask|basepri(?:_max)?)\s*,[^,]+|mrs\s+[^,]+,\s*(?:primask|basepri)"
    rb"|(?:mov|movw|movt|mvn|clz|rbit|rev|rev16|and|orr|eor|bic|add|sub|lsl|lsr|asr|cmp|tst)s?"
    rb"(?:\.[nw])?\s+(?!.*\b(?:sp|r13|pc|r15)\b).*",
    re.IGNORECASE,
)


def is_known(name: bytes) -> bool:
    """Whether a function is the compiler's or CMSIS's own, and calculates or takes a lock."""
    return name in _KNOWN or _CALCULATES.fullmatch(name) is not None


def not_understood(
    functions: Iterable[str], units: CUnits, callees: Callees, calculates: Callable[[str], bool]
) -> str:
    """Which of these functions, or of those they call, does what nobody can tell; "" for none.
    `calculates`: whether an assembler function does no more than that."""
    reached = list(callees.of(functions))
    stores = Stores(units, {node.id for it in reached for node in it.body.definitions})
    for it in reached:
        if is_known(it.name.encode("latin-1")):
            continue
        called = f"{it.name}(), which choosing a task may call,"
        if it.body.is_in_assembler_alone and calculates(it.name):
            continue
        if not it.body.is_in_c_alone:
            return f"no body of {it.name}() in C, which choosing a task may call"
        for definition in it.body.definitions:
            if definition.has_error:
                return f"{called} can't be read"
            for node, what in (*_doubts(definition), *stores.doubts(definition)):
                return f"{called} {what}: '{one_line(node)}'"
    return ""


def _doubts(definition: Node) -> Iterator[tuple[Node, str]]:
    """What it does else that nobody can follow."""
    own = own_variables(definition)
    for call, callee in calls_in(definition):
        name = call.child_by_field_name("function")
        if name is None or name.type != "identifier" or callee in own:
            yield call, "calls through a pointer"
    for node in walk(definition):
        if node.type in ASM and not _is_harmless(node):
            yield node, "has asm that may do anything"


def _is_harmless(statement: Node) -> bool:
    """Whether all instructions of an asm statement are."""
    code = statement.child_by_field_name("assembly_code")
    if code is None:
        return False
    text = b"".join(_STRING.findall(text_of(code))).replace(rb"\t", b" ")
    lines = [line.strip() for line in _BREAKS.split(text)]
    return all(not line or _HARMLESS.fullmatch(line) for line in lines)
