"""Expressions of C that have what a function reads of a mask: by an intrinsic, or in assembler."""

from __future__ import annotations

import re
from collections.abc import Collection

from porter.context_switch.asm_statements import template_of
from porter.context_switch.c_flow import CUnits
from porter.context_switch.c_nodes import ASM, calls_in, is_local, uses_in
from porter.context_switch.callees import Reached
from porter.registers.intrinsics import BASEPRI_READ, MASK_READ
from porter.source.c_tree import Node, text_of, walk

_CONDITIONS = re.compile(
    rb"\bcbn?z\b|\bb(?:eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)(?:u|z|\.[nw])?\b"
    rb"|\bb(?:nez|gez|gtz|ltz|lez|eqz|gtu|leu)\b|\bit[te]{0,3}\s",
    re.IGNORECASE,
)
MSTATUS = rb"(?:mstatus|0x300|768)"
"""How mstatus is written: by its name, or its number (RISC-V Privileged, 2.2)."""
_READERS = {"PRIMASK": MASK_READ, "BASEPRI": BASEPRI_READ} | dict.fromkeys(
    ("mstatus", "IPSR", "CONTROL"), frozenset[str]()
)


def readings(
    name: bytes, assembler: bytes, mask: str, units: CUnits
) -> tuple[list[Node], list[Node]]:
    """Of a function with this text in assembler: those that nobody else may set, and reads of
    variables in which the function keeps it."""
    starts: list[Node] = []
    kept: list[Node] = []
    reads = _reading(mask)
    if reads.search(assembler):
        starts += units.calls(name)
    for definition in units.definitions(name):
        starts += [call for call, callee in calls_in(definition)
                   if callee.decode("latin-1") in _READERS[mask]]  # fmt: skip
        for node in walk(definition):
            if node.type in ASM and reads.search(template_of(node)):
                results = _results(node)
                starts += units.calls(name) if results is None else ()
                for result in results or ():
                    own = is_local(definition, result)
                    starts += uses_in(definition, result) if own else ()
                    kept += units.reads(result) if not own else ()
    return starts, kept


def _reading(mask: str) -> re.Pattern[bytes]:
    name = MSTATUS if mask == "mstatus" else mask.encode()
    text = rb"\b(?:mrs\w*|csrr\w*)\s+[^,;\n]+,\s*%s\b" % name
    return re.compile(text, re.IGNORECASE)


def reads_in_text(it: Reached, mask: str) -> bool:
    """Whether a function in assembler, or asm in one in C or in C++, reads a mask."""
    return any(map(_reading(mask).search, _assembler_of(it)))


def _assembler_of(it: Reached) -> list[bytes]:
    statements = (node for definition in it.body.definitions for node in walk(definition)
                  if node.type in ASM)  # fmt: skip
    cplusplus = [it.body.cplusplus.text] if it.body.cplusplus is not None else []
    return [it.body.assembler, *cplusplus, *map(template_of, statements)]


def asks_in_assembler(it: Reached, mask: str, readers: Collection[str]) -> bool:
    """Whether a function in assembler may decide something by a mask that it reads or gets from
    `readers`: there are conditions in it."""
    return any(
        _CONDITIONS.search(text)
        and (_reading(mask).search(text) or any(_has(text, name) for name in readers))
        for text in _assembler_of(it)
    )


def _has(text: bytes, name: str) -> bool:
    return re.search(rb"\b%s\b" % re.escape(name.encode("latin-1")), text) is not None


def _results(statement: Node) -> list[bytes] | None:
    """What an asm statement sets; None for a naked function's, which returns it."""
    operands = [it for it in walk(statement) if it.type == "gnu_asm_output_operand"]
    names = [text_of(it) for operand in operands for it in walk(operand) if it.type == "identifier"]
    return names if operands else None
