"""ECALL: the hypercall of RISC-V."""

from __future__ import annotations

from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.target import Target


def _judge(value: int, target: Target) -> Judgement | None:
    return None if target.policy.svc else Judgement("policy")


RULE = InstructionRule(
    id="ecall",
    why="the policy names no hypercall for this domain: the call is refused",
    fix="take the call out, or give the domain its hypercalls in the description",
    hardware="An environment call from user mode (mcause 8): how a guest enters the kernel.",
    manual="RISC-V Instruction Set Manual, volume II (20211203), 3.3.1",
    patterns=(Pattern(32, 0xFFFFFFFF, 0x00000073),),
    judge=_judge,
    invalid=(),
    valid=("ecall", "ebreak"),
    assembled_for="rv32imafc",
)
