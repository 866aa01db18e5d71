"""Machine code as text, in the words of the scanner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from porter.context_switch.machine import Machine
from scanner.arch.model import Architecture
from scanner.arch.registry import architecture
from scanner.rules.model import Judgement
from scanner.target import Target


@dataclass(frozen=True)
class Decoded:
    """`text` is "" for what nobody knows; `is_silent`: without privilege it does nothing, or what
    it shouldn't, and no fault tells."""

    value: int
    text: str
    is_silent: bool


def decode(code: bytes, machine: Machine) -> Iterator[Decoded]:
    """The instructions that bytes are, from the first one on."""
    core = architecture(machine.core)
    halfwords = np.frombuffer(code, dtype="<u2", count=len(code) // 2)
    index = 0
    while index < len(halfwords):
        size = 2 if core.isa.wide[halfwords[index]] and index + 1 < len(halfwords) else 1
        value = int(halfwords[index])
        if size == 2:
            pair = halfwords[index : index + 2].astype(np.uint32)
            value = int(core.isa.join(pair[:1], pair[1:])[0])
        yield _one(machine, core, code[2 * index : 2 * (index + size)], value)
        index += size


def _one(machine: Machine, core: Architecture, code: bytes, value: int) -> Decoded:
    judgement = _judged(core, len(code) * 8, value)
    is_silent = judgement is not None and judgement.severity == "silent"
    text = core.disassembler.text(code)
    if judgement is not None and judgement.what and (is_silent or text is None):
        text = judgement.what
    if text is None:
        text = machine.spelled(value)
    return Decoded(value, text or "", is_silent)


def _judged(core: Architecture, bits: int, value: int) -> Judgement | None:
    """What the first rule that forbids an instruction says of it."""
    target = Target(core.name)
    judged = (
        rule.judge(value, target)
        for rule in core.rules
        if any(it.bits == bits and value & it.mask == it.match for it in rule.patterns)
    )
    return next((it for it in judged if it is not None), None)
