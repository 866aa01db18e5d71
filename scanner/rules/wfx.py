"""WFI, WFE and SEV: sleeping and waking behind the scheduler's back."""

from __future__ import annotations

from scanner.policy import Policy
from scanner.rules.model import InstructionRule, Judgement, Pattern


def _judge(value: int, policy: Policy) -> Judgement | None:
    return None if policy.wfi else Judgement("policy")


RULE = InstructionRule(
    id="wfx",
    why="it doesn't trap: the whole core sleeps or wakes, with every other domain on it",
    fix="wait with hyp_vct_wait, or allow it with wfi in the description",
    patterns=(
        *(Pattern(16, 0xFFFF, match) for match in (0xBF30, 0xBF20, 0xBF40)),
        *(Pattern(32, 0xFFF0D7FF, match) for match in (0xF3A08002, 0xF3A08003, 0xF3A08004)),
    ),
    judge=_judge,
    invalid=("wfi", "wfe", "sev", "wfi.w", "wfe.w", "sev.w", ".inst.w 0xf3a0a803"),
    valid=("nop", "yield", "nop.w", "dsb", "isb", "clrex"),
)
