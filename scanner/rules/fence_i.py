"""FENCE.I: a sign of code that is written at run time (RISC-V)."""

from __future__ import annotations

from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.target import Target


def _judge(value: int, target: Target) -> Judgement:
    return Judgement("policy", what="fence.i")


RULE = InstructionRule(
    id="fence-i",
    why="it makes code that was written at run time visible, and no scan saw that code",
    fix="take it out: the memory of a domain is writable or executable, never both",
    hardware="Runs in user mode without a trap, measured in QEMU.",
    manual="RISC-V Instruction Set Manual, volume I (20191213), chapter 3",
    patterns=(Pattern(32, 0x707F, 0x100F),),
    judge=_judge,
    invalid=("fence.i", ".insn 0x0ff0100f"),
    valid=("fence", "fence rw, rw", "fence.tso"),
    assembled_for="rv32imafc",
    decisive=0x707F,
)
