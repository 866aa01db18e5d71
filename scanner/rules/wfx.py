"""WFI, WFE and SEV: sleeping and waking behind the scheduler's back."""

from __future__ import annotations

from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.target import Target


def _judge(value: int, target: Target) -> Judgement | None:
    return None if target.policy.wfi else Judgement("policy")


RULE = InstructionRule(
    id="wfx",
    why="it doesn't trap: the whole core sleeps or wakes, with every other domain on it",
    fix="wait with hyp_vct_wait, or allow it with wfi in the description",
    hardware=(
        "WFI and WFE run without privilege and put the whole core to sleep, with every domain "
        "on it; SEV wakes it."
    ),
    manual="ARMv7-M ARM (DDI 0403E) A7.7.261, A7.7.262, A7.7.129 and B1.5.18",
    patterns=(
        *(Pattern(16, 0xFFFF, match) for match in (0xBF30, 0xBF20, 0xBF40)),
        *(Pattern(32, 0xFFF0D7FF, match) for match in (0xF3A08002, 0xF3A08003, 0xF3A08004)),
    ),
    judge=_judge,
    invalid=("wfi", "wfe", "sev", "wfi.w", "wfe.w", "sev.w", ".inst.w 0xf3a0a803"),
    valid=("nop", "yield", "nop.w", "dsb", "isb", "clrex"),
)
