"""Vector instructions, which no core that the rules know has (RISC-V)."""

from __future__ import annotations

from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.target import Target

_ARITHMETIC, _LOAD, _STORE = 0x57, 0x07, 0x27
_WIDTHS = 0, 5, 6, 7
"""Of the opcodes of floating-point loads and stores, what bits 14 to 12 have for vectors."""


def is_vector(value: int) -> bool:
    """Whether a wide instruction is one on vectors."""
    opcode = value & 0x7F
    return opcode == _ARITHMETIC or (opcode in (_LOAD, _STORE) and value >> 12 & 7 in _WIDTHS)


def _judge(value: int, target: Target) -> Judgement | None:
    name = {_LOAD: "vl", _STORE: "vs"}.get(value & 0x7F, "v")
    return Judgement("traps", what=name) if is_vector(value) else None


RULE = InstructionRule(
    id="vector",
    why="the core has no vector unit, or mstatus.VS stays off: an illegal instruction",
    fix="compile for rv32imac, or rv32imafc where there is an FPU",
    hardware="With mstatus.VS off, or without the unit, each of them is an illegal instruction.",
    manual="RISC-V vector extension (version 1.0), 3.2, 5 and 7.2",
    patterns=tuple(Pattern(32, 0x7F, opcode) for opcode in (_ARITHMETIC, _LOAD, _STORE)),
    judge=_judge,
    invalid=(".insn 0x0d0072d7", ".insn 0x02050007", ".insn 0x02055027", ".insn 0x02108057"),
    valid=("flw fa0, 0(a0)", "fsw fa0, 0(a0)", "fadd.s fa0, fa1, fa2"),
    assembled_for="rv32imafc",
    tells_cores=True,
    decisive=0x707F,
)
