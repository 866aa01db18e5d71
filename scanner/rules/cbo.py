"""Instructions on cache blocks (RISC-V, Zicbom and Zicboz)."""

from __future__ import annotations

from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.target import Target

_NAMES = {0: "cbo.inval", 1: "cbo.clean", 2: "cbo.flush", 4: "cbo.zero"}


def _judge(value: int, target: Target) -> Judgement:
    return Judgement("traps", what=_NAMES.get(value >> 20, "cbo"))


RULE = InstructionRule(
    id="cbo",
    why="user mode may not command the cache: an illegal instruction reboots the domain",
    fix="leave the caches to the runtime, or compile without Zicbom and Zicboz",
    hardware=(
        "An illegal instruction where the core has no such instructions, and where menvcfg doesn't"
        " open them for user mode, which the kernel leaves closed."
    ),
    manual="RISC-V CMO specification (version 1.0.1), 2.5 and 2.6; volume II, menvcfg",
    patterns=(Pattern(32, 0x707F, 0x200F),),
    judge=_judge,
    invalid=(".insn 0x0005200f", ".insn 0x0015200f", ".insn 0x0025200f", ".insn 0x0045200f"),
    valid=("fence", "fence.tso", "ori x0, a0, 1"),
    assembled_for="rv32imafc",
    decisive=0xFFF0707F,
)
