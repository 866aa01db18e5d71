"""BX and BLX to even addresses: a change to a state that Cortex-M lacks."""

from __future__ import annotations

from scanner.rules.model import Access, AddressRule
from scanner.target import Target

_CODE = range(0x100, 0xE0000000)
"""Below are numbers that stand for no function, 0 most of all; above is no code of a guest's."""


def _covers(address: int, target: Target) -> bool:
    return address in _CODE and address % 2 == 0


def _judge(access: Access, target: Target) -> str | None:
    if not access.switches or not access.exact or not _covers(access.address, target):
        return None
    return f"jump to 0x{access.address:08x} without bit 0"


RULE = AddressRule(
    id="arm-state",
    why="bit 0 of the address says Thumb, and no other state exists on this core: a fault",
    fix="in assembler, declare the function with .thumb_func or .type NAME, %function; else add 1",
    hardware=(
        "BX and BLX to an even address clear EPSR.T, and the next instruction is a usage fault "
        "(INVSTATE), on ARMv6-M a hard fault. Measured in QEMU for M3, M4, M7 and M33."
    ),
    manual="ARMv7-M ARM (DDI 0403E) A4.1.1, A7.7.19 and A7.7.20",
    severity="traps",
    judges_jumps=True,
    reach=lambda _: (_CODE,),
    covers=_covers,
    judge=_judge,
    invalid=(
        "ldr r3, =0x08000100\n blx r3",
        "ldr r0, =0x20000400\n mov r12, r0\n nop\n bx r12",
        "movs r1, #8\n lsls r1, r1, #24\n adds r1, r1, #16\n bx r1",
    ),
    valid=(
        "ldr r3, =0x08000101\n blx r3",
        "ldr r3, =0x08000100\n adds r3, #1\n bx r3",
        "ldr r3, =0x08000100\n ldr r3, [r3]\n bx r3",
        "ldr r3, =0x08000100\n mov pc, r3",
        "movs r3, #0\n cmp r3, #0\n beq 1f\n blx r3\n1: nop",
        "ldr r3, =0x08000100\n movs r2, #1\n orrs r3, r2\n bx r3",
    ),
)
