"""SVC with a number that is no FVM call."""

from __future__ import annotations

from scanner.policy import Policy
from scanner.rules.model import InstructionRule, Judgement, Pattern


def _judge(value: int, policy: Policy) -> Judgement | None:
    return None if value & 0xFF in policy.svc else Judgement("traps")


RULE = InstructionRule(
    id="svc",
    why="it enters the kernel, which takes it for a call whose number happens to be in r12",
    fix="make the call through the guest API; `fvmkit port` rewrites the SVC of an RTOS port",
    patterns=(Pattern(16, 0xFF00, 0xDF00),),
    judge=_judge,
    invalid=("svc 0", "svc 1", "svc 2", "svc 255"),
    valid=("svc 245", "udf 0"),
)
