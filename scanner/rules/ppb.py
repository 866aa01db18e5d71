"""Accesses to the private peripheral bus: NVIC, SCB, SysTick, MPU, debug."""

from __future__ import annotations

from scanner.rules.model import Access, AddressRule
from scanner.rules.ppb_registers import BASE, END, bit_names, register_name
from scanner.target import Target


def _covers(address: int, target: Target) -> bool:
    return BASE <= address < END


def _judge(access: Access, target: Target) -> str | None:
    if not _covers(access.address, target):
        return None
    bits = "" if access.value is None else bit_names(access.address, access.value)
    name = register_name(access.address, target.arch)
    if not access.exact:
        name = f"{name.partition('[')[0]}[...]"
    return f"{access.words} {name}" + (f" ({bits})" if bits else "")


RULE = AddressRule(
    id="ppb",
    why="only privileged code reaches it: a bus fault reboots the domain",
    fix="use the guest API (virt_vct_trig, hyp_irq_ena, hyp_tick_set, hyp_reboot, virt_cycles)",
    hardware=(
        "The private peripheral bus takes no unprivileged access, whatever the protection "
        "unit allows: a precise BusFault. Only STIR can be opened (CCR.USERSETMPEND)."
    ),
    manual="ARMv7-M ARM (DDI 0403E) B3.1.1 and B3.2.8",
    severity="traps",
    reach=lambda _: (range(BASE, END),),
    covers=_covers,
    judge=_judge,
    invalid=(
        "ldr r0, =0xe000ed04\n mov r1, #0x10000000\n str r1, [r0]",
        "movw r3, #0xe100\n movt r3, #0xe000\n str.w r2, [r3, r1, lsl #2]",
        "ldr r0, =0xe000e010\n bx lr",
        "mov.w r3, #0xe0000000\n ldr.w r2, [r3, #0xe80]",
        "add.w r3, r3, #0xe0000000\n add.w r3, r3, #0xe100\n str r2, [r3]",
        "add.w r3, r3, #0xe100\n add.w r3, r3, #0xe0000000\n str r2, [r3]",
    ),
    valid=("ldr r0, =0x20000000\n ldr r1, [r0]", "mov.w r3, #0xe0000000\n adds r0, r0, r3"),
)
