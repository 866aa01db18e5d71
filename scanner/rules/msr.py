"""MSR: writes to PRIMASK, BASEPRI, FAULTMASK, CONTROL and the stack pointers."""

from __future__ import annotations

from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.rules.special_registers import APSR_WRITES, PSR, register_name
from scanner.target import Target


def _judge(value: int, target: Target) -> Judgement | None:
    number = value & 0xFF
    what = f"msr {register_name(number)}, r{value >> 16 & 0xF}"
    if number in APSR_WRITES:
        return None
    if number in PSR:
        return Judgement("policy", "the write is ignored on every M-profile core", what)
    return Judgement("silent", what=what)


_GIVES_UP_PRIVILEGE = tuple(
    (0xF3EF, 0x8014 | n << 8, 0xF040 | n, 0x0001 | n << 8, 0xF380 | n, 0x8814) for n in range(13)
)
"""MRS Rn, CONTROL; ORR Rn, Rn, #1; MSR CONTROL, Rn: without privilege it is so already."""


RULE = InstructionRule(
    id="msr",
    why="without privilege the write is ignored, and no fault tells",
    fix="masks: virt_int_save and virt_int_restore; stack pointers: the ported context switch",
    hardware=(
        "Unprivileged writes to PRIMASK, BASEPRI, FAULTMASK, CONTROL, the stack pointers and "
        "their limits are ignored without a fault; only the flags of APSR can be written."
    ),
    manual=(
        "ARMv6-M ARM (DDI 0419E) B4.2.3; ARMv7-M ARM (DDI 0403E) B5.2.3; "
        "ARMv8-M ARM (DDI 0553) C2.4: MSR"
    ),
    patterns=(Pattern(32, 0xFFE0D000, 0xF3808000, everywhere=True),),
    judge=_judge,
    harmless=_GIVES_UP_PRIVILEGE,
    invalid=(
        "msr primask, r0",
        "msr basepri, r3",
        "msr basepri_max, r11",
        "msr faultmask, r1",
        "msr control, r14",
        "msr msp, r2",
        "msr psp, r12",
        "msr iepsr, r0",
        ".inst.w 0xf3808810",
        ".inst.w 0xf3908810",
        ".inst.w 0xf380a010",
        ".inst.w 0xf3808880",
        ".inst.w 0xf380880a",
        "mrs r3, control\n orr r3, r3, #3\n msr control, r3",
        "mrs r3, control\n orr r3, r3, #1\n msr control, r2",
    ),
    valid=(
        "msr apsr_nzcvq, r0",
        "msr apsr_g, r0",
        "msr xpsr_nzcvq, r0",
        "bfi r0, r1, #0, #17",
        "mrs r3, control\n orr r3, r3, #1\n msr control, r3",
    ),
)
