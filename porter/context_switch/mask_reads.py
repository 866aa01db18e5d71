"""Expressions of C that have what a function reads of a mask: by an intrinsic, or in assembler."""

from __future__ import annotations

import re

from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import calls_in, is_local, uses_in
from porter.context_switch.own_masks import ASM
from porter.registers.intrinsics import BASEPRI_READ, MASK_READ
from porter.source.c_tree import Node, text_of, walk

_READERS = {"PRIMASK": MASK_READ, "BASEPRI": BASEPRI_READ, "mstatus": frozenset[str]()}


def readings(name: bytes, mask: str, units: CUnits) -> tuple[list[Node], list[Node]]:
    """Those that nobody else may set, and reads of variables in which the function keeps it."""
    starts: list[Node] = []
    kept: list[Node] = []
    reads = re.compile(rb"\b(?:mrs\w*|csrr\w*)\s+[^,;\n]+,\s*%s\b" % mask.encode(), re.IGNORECASE)
    if reads.search(units.assembler_text(name) or b""):
        starts += units.calls(name)
    for definition in units.definitions(name):
        starts += [it for it, callee in calls_in(definition)
                   if callee.decode("latin-1") in _READERS[mask]]  # fmt: skip
        for node in walk(definition):
            if node.type in ASM and reads.search(text_of(node)):
                results = _results(node)
                starts += units.calls(name) if results is None else ()
                for result in results or ():
                    own = is_local(definition, result)
                    starts += uses_in(definition, result) if own else ()
                    kept += units.reads(result) if not own else ()
    return starts, kept


def _results(statement: Node) -> list[bytes] | None:
    """What an asm statement sets; None for a naked function's, which returns it."""
    operands = [it for it in walk(statement) if it.type == "gnu_asm_output_operand"]
    names = [text_of(it) for operand in operands for it in walk(operand) if it.type == "identifier"]
    return names if operands else None
