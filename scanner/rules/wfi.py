"""WFI on RISC-V: sleeping behind the scheduler's back."""

from __future__ import annotations

from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.target import Target


def _judge(value: int, target: Target) -> Judgement | None:
    return None if target.policy.wfi else Judgement("policy")


RULE = InstructionRule(
    id="wfx",
    why="where it doesn't trap the whole core sleeps, with every other domain on it",
    fix="wait through the guest API, or allow it with wfi in the description",
    hardware=(
        "Illegal in user mode where the core has supervisor mode or mstatus.TW is set, measured in "
        "QEMU; a core with machine and user mode alone and TW clear may run it."
    ),
    manual="RISC-V Instruction Set Manual, volume II (20211203), 3.3.3 and 3.1.6.5",
    patterns=(Pattern(32, 0xFFFFFFFF, 0x10500073),),
    judge=_judge,
    invalid=("wfi",),
    valid=("nop", "ecall"),
    assembled_for="rv32imafc",
)
