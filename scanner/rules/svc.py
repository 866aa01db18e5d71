"""SVC with a number that is no FVM call."""

from __future__ import annotations

from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.target import Target


def _judge(value: int, target: Target) -> Judgement | None:
    return None if value & 0xFF in target.policy.svc else Judgement("traps")


RULE = InstructionRule(
    id="svc",
    why="it enters the kernel, which takes it for a call whose number happens to be in r12",
    fix="make the call through the guest API; `fvmkit port` rewrites the SVC of an RTOS port",
    hardware=(
        "SVC enters the SVCall handler, which is the kernel's. It can't tell a call of an "
        "RTOS from one of its own."
    ),
    manual="ARMv7-M ARM (DDI 0403E) A7.7.178 and B1.5.1",
    patterns=(Pattern(16, 0xFF00, 0xDF00),),
    judge=_judge,
    invalid=("svc 0", "svc 1", "svc 2", "svc 255"),
    valid=("svc 245", "udf 0"),
)
