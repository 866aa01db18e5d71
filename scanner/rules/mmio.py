"""Accesses to peripherals that the domain was not granted."""

from __future__ import annotations

from scanner.arch.profiles import profile
from scanner.rules.model import Access, AddressRule
from scanner.target import Target

_PERIPHERALS = range(0x40000000, 0x60000000)
"""Where every Cortex-M has its peripherals; RISC-V parts differ (scanner/vendors)."""


def _covers(address: int, target: Target) -> bool:
    is_riscv = target.arch.startswith("rv")
    peripherals = profile(target.profile).peripherals if is_riscv else _PERIPHERALS
    if target.policy.grants is None or address not in peripherals:
        return False
    return not any(grant.base <= address < grant.end for grant in target.policy.grants)


def _judge(access: Access, target: Target) -> str | None:
    if access.kind == "address" or not _covers(access.address, target):
        return None  # a constant of this size is often a float or a hash, not an address
    word = "write to" if access.kind == "write" else "read of"
    return f"{word} 0x{access.address:08x}, not granted to {target.policy.domain}"


RULE = AddressRule(
    id="mmio",
    why="the protection unit stops it: a memory fault reboots the domain",
    fix="grant the device in the description, or take the access out",
    hardware=(
        "The protection unit opens granted devices and nothing else: a MemManage fault, on RISC-V "
        "an access fault, with the address."
    ),
    manual="ARMv7-M ARM (DDI 0403E) B3.5; RISC-V Instruction Set Manual, volume II, 3.7",
    severity="policy",
    reach=(_PERIPHERALS,),
    covers=_covers,
    judge=_judge,
    invalid=(),
    valid=("ldr r0, =0x40011000\n ldr r1, [r0]",),
)
