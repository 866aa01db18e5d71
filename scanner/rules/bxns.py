"""BXNS and BLXNS: the way to the non-secure world on ARMv8-M, should-be-zero bits elsewhere."""

from __future__ import annotations

from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.target import Target

_MANUAL = "ARMv7-M ARM (DDI 0403E) A7.7.20 (BX); ARMv8-M ARM (DDI 0553) C2.4: BXNS, BLXNS"
_HARDWARE = (
    "On ARMv8-M these leave the secure world for an address that the guest chooses, with no fault. "
    "On ARMv6-M and ARMv7-M the low bits of BX and BLX should be zero; cores ignore or fault one "
    "that is set."
)


def _what(value: int) -> str:
    call = "bl" if value & 0x80 else "b"
    return f"{call}xns r{value >> 3 & 0xF}"


def _judge(value: int, target: Target) -> Judgement:
    return Judgement("policy", what=_what(value))


def _judge_secure(value: int, target: Target) -> Judgement:
    return Judgement("silent", what=_what(value))


RULE = InstructionRule(
    id="bxns",
    why="on this core a BX with a bit set that should be zero: what it does is not defined",
    fix="compile for the core of the chip, without -mcmse",
    hardware=_HARDWARE,
    manual=_MANUAL,
    patterns=(Pattern(16, 0xFF84, 0x4704), Pattern(16, 0xFF84, 0x4784)),
    judge=_judge,
    invalid=(".inst.n 0x4704", ".inst.n 0x4774", ".inst.n 0x479c"),
    valid=("bx lr", "blx r3", "mov r0, r1"),
)

RULE_V8M = InstructionRule(
    id="bxns",
    why="it leaves the secure world without privilege and without a fault",
    fix="compile without -mcmse; guests live in one world",
    hardware=_HARDWARE,
    manual=_MANUAL,
    patterns=(
        Pattern(16, 0xFF84, 0x4704, everywhere=True),
        Pattern(16, 0xFF84, 0x4784, everywhere=True),
    ),
    judge=_judge_secure,
    invalid=("bxns lr", "blxns r3", ".inst.n 0x4707", ".inst.n 0x479f"),
    valid=("bx lr", "blx r3", "mov r0, r1"),
    assembled_for="armv8m.main",
)
