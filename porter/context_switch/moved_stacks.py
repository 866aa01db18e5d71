"""Whether what a handler calls reads the task's stack pointer or sets it.

Many small kernels save PSP in C: the handler calls the scheduler, which stores `__get_PSP()` and
goes on with `__set_PSP()`. To such a handler PSP is no register of its own across the call.
"""

from __future__ import annotations

import re

from porter.context_switch.c_nodes import ASM, calls_in
from porter.context_switch.callees import Callees
from porter.source.c_tree import text_of, walk

_PLACES = frozenset({*ASM, "field_expression"})
_READS = re.compile(rb"\bmrs\w*\b[^;\n]*\bpsp\b", re.IGNORECASE)
_SETS = re.compile(rb"\bmsr\w*\s+psp\b", re.IGNORECASE)
_NAMED = re.compile(rb"psp\b", re.IGNORECASE)
_GETTER, _SETTER = b"__get_PSP", b"__set_PSP"
_POINTER = re.compile(rb"\bReg\s*\.\s*SP\b")  # as somebody ported it


def moves_stack(function: str, callees: Callees) -> bool:
    """Whether it reads or sets PSP, or one that it comes to."""
    return _does(function, callees, {_GETTER, _SETTER}, [_READS, _SETS, _POINTER])


def sets_stack(function: str, callees: Callees) -> bool:
    """Whether it sets PSP, or one that it comes to."""
    return _does(function, callees, {_SETTER}, [_SETS])


def _does(
    function: str, callees: Callees, intrinsics: set[bytes], patterns: list[re.Pattern[bytes]]
) -> bool:
    def found(text: bytes) -> bool:
        return any(pattern.search(text) for pattern in patterns)

    for it in callees.of([function]):
        if it.name.encode("latin-1") in intrinsics or found(it.body.assembler):
            return True
        if it.body.cplusplus is not None and _NAMED.search(it.body.cplusplus.text):
            return True
        for definition in it.body.definitions:
            if any(callee in intrinsics for _, callee in calls_in(definition)):
                return True
            if any(found(text_of(node)) for node in walk(definition) if node.type in _PLACES):
                return True
    return False
