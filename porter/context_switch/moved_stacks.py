"""Whether what a handler calls reads the task's stack pointer or sets it.

Many small kernels save PSP in C: the handler calls the scheduler, which stores `__get_PSP()` and
goes on with `__set_PSP()`. To such a handler PSP is no register of its own across the call.
"""

from __future__ import annotations

import re

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import calls_in
from porter.context_switch.own_masks import ASM
from porter.source.c_tree import text_of, walk

_PLACES = frozenset({*ASM, "field_expression"})
_READS = re.compile(rb"\bmrs\w*\b[^;\n]*\bpsp\b", re.IGNORECASE)
_SETS = re.compile(rb"\bmsr\w*\s+psp\b", re.IGNORECASE)
_GETTER, _SETTER = b"__get_PSP", b"__set_PSP"
_POINTER = re.compile(rb"\bReg\s*\.\s*SP\b")  # as somebody ported it


def moves_stack(function: str, units: CUnits) -> bool:
    """Whether it reads or sets PSP, or one that it calls in C or in an assembler file."""
    return _does(function, units, {_GETTER, _SETTER}, [_READS, _SETS, _POINTER])


def sets_stack(function: str, units: CUnits) -> bool:
    """Whether it sets PSP, or one that it calls."""
    return _does(function, units, {_SETTER}, [_SETS])


def _does(
    function: str, units: CUnits, intrinsics: set[bytes], patterns: list[re.Pattern[bytes]]
) -> bool:
    def found(text: bytes) -> bool:
        return any(pattern.search(text) for pattern in patterns)

    for name, definitions in units.reached([function.encode()]).items():
        if name in intrinsics or found(units.assembler_text(name) or b""):
            return True
        for definition in definitions:
            if any(callee in intrinsics for _, callee in calls_in(definition)):
                return True
            if any(found(text_of(it)) for it in walk(definition) if it.type in _PLACES):
                return True
    return False
