"""EBREAK and C.EBREAK: breakpoints and semihosting left in the code (RISC-V)."""

from __future__ import annotations

from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.target import Target


def _judge(value: int, target: Target) -> Judgement:
    return Judgement("traps")


RULE = InstructionRule(
    id="ebreak",
    why="a breakpoint, or semihosting: without a debugger it is a fault that reboots the domain",
    fix="link without semihosting (no --oslib=semihost), and take breakpoints out",
    hardware="A breakpoint exception (mcause 3), measured in QEMU.",
    manual="RISC-V Instruction Set Manual, volume II (20211203), 3.3.1; volume I, 16.5",
    patterns=(Pattern(32, 0xFFFFFFFF, 0x00100073), Pattern(16, 0xFFFF, 0x9002)),
    judge=_judge,
    invalid=("ebreak", "c.ebreak", ".option norvc\n ebreak\n .option rvc"),
    valid=("ecall", "nop", "c.jalr a0"),
    assembled_for="rv32imafc",
)
