"""MRS: reads of registers that an unprivileged reader sees as zero."""

from __future__ import annotations

from scanner.rules.model import InstructionRule, Judgement, Pattern
from scanner.rules.special_registers import CONTROL, PSR, register_name
from scanner.target import Target

_INCLUDES_IPSR = 1


def _judge(value: int, target: Target) -> Judgement | None:
    number = value & 0xFF
    what = f"mrs r{value >> 8 & 0xF}, {register_name(number)}"
    if number == CONTROL:
        return None
    if number in PSR:
        if not number & _INCLUDES_IPSR:
            return None
        why = "without privilege IPSR reads 0: code that asks `am I in an interrupt` hears no"
        return Judgement("silent", why, what)
    return Judgement("silent", what=what)


RULE = InstructionRule(
    id="mrs",
    why="without privilege it reads 0 and no fault tells",
    fix="masks: virt_int_query; IPSR: virt_in_vct; `fvmkit port` rewrites the source",
    hardware=(
        "Unprivileged reads of all but APSR and CONTROL give 0 without a fault. IPSR is among "
        "what reads 0, even where privileged code would see an exception number."
    ),
    manual=(
        "ARMv6-M ARM (DDI 0419E) B4.2.2; ARMv7-M ARM (DDI 0403E) B5.2.2; "
        "ARMv8-M ARM (DDI 0553) C2.4: MRS"
    ),
    patterns=(Pattern(32, 0xFFE0D000, 0xF3E08000, everywhere=True),),
    judge=_judge,
    invalid=(
        "mrs r0, primask",
        "mrs r3, basepri",
        "mrs r11, basepri_max",
        "mrs r1, faultmask",
        "mrs r12, msp",
        "mrs r2, psp",
        "mrs r0, ipsr",
        "mrs r0, xpsr",
        ".inst.w 0xf3ff8010",
        ".inst.w 0xf3e0a010",
        ".inst.w 0xf3ef80ff",
    ),
    valid=("mrs r0, apsr", "mrs r0, epsr", "mrs r7, control", "ubfx r0, r1, #0, #17"),
)
