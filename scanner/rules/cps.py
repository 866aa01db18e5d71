"""CPSIE and CPSID: masking interrupts through PRIMASK and FAULTMASK."""

from __future__ import annotations

from scanner.policy import Policy
from scanner.rules.model import InstructionRule, Judgement, Pattern


def _judge(value: int, policy: Policy) -> Judgement:
    flags = "".join(flag for bit, flag in ((2, "a"), (1, "i"), (0, "f")) if value >> bit & 1)
    return Judgement("silent", what=f"cps{'id' if value & 0x10 else 'ie'} {flags or 'none'}")


RULE = InstructionRule(
    id="cps",
    why="without privilege it neither masks nor traps, so the critical section protects nothing",
    fix="use virt_int_mask and virt_int_unmask; `fvmkit port` rewrites the source",
    patterns=(Pattern(16, 0xFFE0, 0xB660, everywhere=True),),
    judge=_judge,
    invalid=(
        "cpsid i",
        "cpsie i",
        "cpsid f",
        "cpsie f",
        "cpsid if",
        ".inst.n 0xb660",
        ".inst.n 0xb664",
        ".inst.n 0xb66f",
        ".inst.n 0xb67c",
    ),
    valid=("setend le", "nop", ".inst.n 0xb680", ".inst.n 0xb640"),
)
