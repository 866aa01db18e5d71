"""The four opcodes that RISC-V leaves to vendors."""

from __future__ import annotations

from scanner.arch.profiles import profile
from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.target import Target

_NAMES = {0x0B: "custom-0", 0x2B: "custom-1", 0x5B: "custom-2", 0x7B: "custom-3"}


def _judge(value: int, target: Target) -> Judgement:
    if profile(target.profile).absent_traps:
        why = "the core has no such instruction: an illegal instruction"
        return Judgement("traps", why, _NAMES[value & 0x7F])
    return Judgement("silent", what=_NAMES[value & 0x7F])


RULE = InstructionRule(
    id="custom",
    why="an instruction of the vendor's own, whose effect on other domains is not known",
    fix="compile for the plain core, without the vendor's extensions",
    hardware="Illegal in QEMU; elsewhere what the vendor made of it, in any mode.",
    manual="RISC-V Instruction Set Manual, volume I (20191213), table 24.1 and chapter 26",
    patterns=tuple(Pattern(32, 0x7F, opcode) for opcode in _NAMES),
    judge=_judge,
    invalid=(".insn 0x0000000b", ".insn 0xfff5f52b", ".insn 0x0000705b", ".insn 0x8000007b"),
    valid=("lui a0, 5", "auipc a0, 5", "amoadd.w a0, a1, (a2)"),
    assembled_for="rv32imafc",
    decisive=0x7F,
)
