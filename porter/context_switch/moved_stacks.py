"""Whether what a handler calls reads the task's stack pointer or sets it.

Many small kernels save PSP in C: the handler calls the scheduler, which stores `__get_PSP()` and
goes on with `__set_PSP()`. To such a handler PSP is no register of its own across the call.
"""

from __future__ import annotations

import re

from porter.context_switch.c_flow import CUnits, calls_in
from porter.context_switch.own_masks import ASM
from porter.source.c_tree import text_of, walk

_PSP = re.compile(rb"\b(?:mrs|msr)\w*\b[^;\n]*\bpsp\b", re.IGNORECASE)
_INTRINSICS = frozenset({b"__get_PSP", b"__set_PSP"})
_POINTER = re.compile(rb"\bReg\s*\.\s*SP\b")  # as somebody ported it


def moves_stack(function: str, units: CUnits) -> bool:
    """Whether it does, or one that it calls in C or in an assembler file."""
    for name, definitions in units.reached([function.encode()]).items():
        if name in _INTRINSICS or _PSP.search(units.assembler_text(name) or b""):
            return True
        for definition in definitions:
            if any(callee in _INTRINSICS for _, callee in calls_in(definition)):
                return True
            for node in walk(definition):
                if node.type in ASM and _PSP.search(text_of(node)):
                    return True
                if node.type == "field_expression" and _POINTER.search(text_of(node)):
                    return True
    return False
