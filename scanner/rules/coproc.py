"""Coprocessor instructions: the FPU by policy, all others."""

from __future__ import annotations

from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.target import Target

_FPU = (10, 11)
_LAZY = Pattern(32, 0xFFE00F00, 0xEC200A00)
_NO_GRANT = "the domain has no FPU, and what enables it stays off: a usage fault (NOCP)"
_NO_FPU = "this core has no FPU: a usage fault (NOCP)"
_WITHOUT_FPU = ("armv6m", "armv7m")


def _judge(value: int, target: Target) -> Judgement | None:
    if target.arch == "armv8m.main" and value & _LAZY.mask == _LAZY.match:
        return None  # the rule vlstm speaks of it
    number = value >> 8 & 0xF
    if number not in _FPU:
        return Judgement("traps")
    if target.arch in _WITHOUT_FPU:
        return Judgement("traps", _NO_FPU)
    return None if target.policy.fpu else Judgement("policy", _NO_GRANT)


RULE = InstructionRule(
    id="coproc",
    why="no such coprocessor can be used: a usage fault (NOCP)",
    fix='floating point: fpu="yes" in the description, or -mfloat-abi=soft; others: take it out',
    hardware=(
        "A coprocessor that isn't there or isn't enabled in CPACR is a usage fault (NOCP). "
        "CPACR can only be written with privilege."
    ),
    manual="ARMv7-M ARM (DDI 0403E) A5.3.18 and B3.2.20",
    patterns=(Pattern(32, 0xEC000000, 0xEC000000),),
    judge=_judge,
    tells_cores=True,
    invalid=(
        "mcr p0, #0, r0, c0, c0, #0",
        "mrc p15, #0, r1, c1, c0, #0",
        "cdp p7, #1, c0, c1, c2, #3",
        "stc p4, c5, [r6]",
        "ldc p4, c5, [r6], #8",
        "mcr2 p1, #0, r0, c0, c0, #0",
        "mrrc p3, #1, r0, r1, c2",
    ),
    decisive=_LAZY.mask,
    valid=("vadd.f32 s0, s1, s2", "vpush {s16-s31}", "vmrs r0, fpscr", "ldrd r0, r1, [r2]"),
)
