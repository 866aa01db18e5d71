"""Floating-point instructions of a domain without FPU (RISC-V)."""

from __future__ import annotations

from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.rules.vector import is_vector
from scanner.target import Target

_OPCODES = {0x07: "fl", 0x27: "fs", 0x43: "fmadd", 0x47: "fmsub", 0x4B: "fnmsub", 0x4F: "fnmadd",
            0x53: "fp"}  # fmt: skip
_COMPRESSED = (0xE003, 0x6000), (0xE003, 0xE000), (0xE003, 0x6002), (0xE003, 0xE002)
"""C.FLW, C.FSW, C.FLWSP and C.FSWSP."""

_DOUBLE = (0xE003, 0x2000), (0xE003, 0x2002), (0xE003, 0xA000)
"""C.FLD, C.FLDSP and C.FSD, which no core here has. C.FSDSP is where some have Zcmp's CM.PUSH."""


def _judge(value: int, target: Target) -> Judgement | None:
    if value & 3 == 3 and is_vector(value):
        return None
    if any(value >> 16 == 0 and value & mask == match for mask, match in _DOUBLE):
        return Judgement(
            "traps", "the core has no double precision: an illegal instruction", "c.fd"
        )
    name = _OPCODES.get(value & 0x7F) if value & 3 == 3 else "c.f"
    if target.arch != "rv32imafc":
        return Judgement("traps", "the core has no FPU: an illegal instruction", name)
    return None if target.policy.fpu else Judgement("policy", what=name)


RULE = InstructionRule(
    id="fpu",
    why="the domain has no FPU, and mstatus.FS stays off: an illegal instruction",
    fix='give it one with fpu="yes" in the description, or compile for rv32imac and ilp32',
    hardware="With mstatus.FS off every one of them is an illegal instruction, measured in QEMU.",
    manual="RISC-V Instruction Set Manual, volume II (20211203), 3.1.6.6; volume I, chapter 11",
    patterns=(
        *(Pattern(32, 0x7F, opcode) for opcode in _OPCODES),
        *(Pattern(16, mask, match) for mask, match in (*_COMPRESSED, *_DOUBLE)),
    ),
    judge=_judge,
    tells_cores=True,
    invalid=(),
    valid=("fadd.s fa0, fa1, fa2", "flw fa0, 0(a0)", "fmv.x.w a0, fa0"),
    assembled_for="rv32imafc",
    decisive=0x707F,
)
