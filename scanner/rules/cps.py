"""CPSIE and CPSID: masking interrupts through PRIMASK and FAULTMASK."""

from __future__ import annotations

from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.target import Target


def _judge(value: int, target: Target) -> Judgement:
    flags = "".join(flag for bit, flag in ((2, "a"), (1, "i"), (0, "f")) if value >> bit & 1)
    return Judgement("silent", what=f"cps{'id' if value & 0x10 else 'ie'} {flags or 'none'}")


RULE = InstructionRule(
    id="cps",
    why="without privilege it neither masks nor traps, so the critical section protects nothing",
    fix="use virt_int_mask and virt_int_unmask; `fvmkit port` rewrites the source",
    hardware=(
        "Unprivileged, CPS neither changes PRIMASK or FAULTMASK nor faults, on every core. "
        "Encodings with a should-be-zero bit set do the same on most silicon and are "
        "undefined in QEMU."
    ),
    manual=(
        "ARMv6-M ARM (DDI 0419E) B4.2.1; ARMv7-M ARM (DDI 0403E) B5.2.1; "
        "ARMv8-M ARM (DDI 0553) C2.4: CPS"
    ),
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
