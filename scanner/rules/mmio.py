"""Accesses to devices and memory that the domain was not granted."""

from __future__ import annotations

from scanner.arch.profiles import profile
from scanner.policy import Grant
from scanner.rules.model import Access, AddressRule
from scanner.target import Target

_CORTEX_M = range(0x10000000, 0xE0000000)
"""Above the flash that every Cortex-M starts from, below its private peripheral bus."""

_PERIPHERALS = range(0x40000000, 0x60000000)
_BIT_BANDS = {range(0x22000000, 0x24000000): 0x20000000, range(0x42000000, 0x44000000): 0x40000000}
_WITH_BIT_BANDS = ("armv7m", "armv7em")

_DEVICE, _BUS, _BUSES = 0x400, 1 << 20, 1 << 27
"""Vendors put devices at multiples of 1 KiB in the first MiB of 0x40000000, 0x48000000, ..."""

_FAR = 2048
"""So far from its base a load or store of RISC-V reaches, up and down."""


def _covers(address: int, target: Target) -> bool:
    """Whether a load or store from there, with the distance that it may have, is not granted."""
    near = (address - _FAR, address, address + _FAR - 1)
    return any(_is_foreign(place, target) or _only_reads(place, target) for place in near)


def _is_foreign(address: int, target: Target) -> bool:
    return _is_judged(address, target) and not _grants(address, target)


def _only_reads(address: int, target: Target) -> bool:
    granted = _grants(address, target) if _is_judged(address, target) else []
    return bool(granted) and not any(grant.writable for grant in granted)


def _is_judged(address: int, target: Target) -> bool:
    is_riscv = target.arch.startswith("rv")
    reach = profile(target.profile).peripherals if is_riscv else _CORTEX_M
    return target.policy.grants is not None and address in reach


def _grants(address: int, target: Target) -> list[Grant]:
    return [g for g in target.policy.grants or () if g.base <= address < g.end]


def _judge(access: Access, target: Target) -> str | None:
    if access.kind == "write" and access.exact and _only_reads(access.address, target):
        return f"write to 0x{access.address:08x}, which {target.policy.domain} may only read"
    if not _is_foreign(access.address, target):
        return None
    if access.kind == "address" and not _may_be_device(access.address):
        return None
    if not access.exact and not (target.arch.startswith("rv") or access.address in _PERIPHERALS):
        return None  # an index may lead from outside of a grant into it
    index = "" if access.exact else "[...]"
    where = f"0x{access.address:08x}{index}{_bit(access.address, target)}"
    return f"{access.words} {where}, not granted to {target.policy.domain}"


def _may_be_device(address: int) -> bool:
    """A constant of this size is a float or a hash more often than an address."""
    return address in _PERIPHERALS and address % _BUSES < _BUS and address % _DEVICE == 0


def _bit(address: int, target: Target) -> str:
    """What is behind a bit-band alias, where the core has any."""
    for alias, base in _BIT_BANDS.items():
        if address in alias and target.arch in _WITH_BIT_BANDS:
            byte, bit = divmod((address - alias.start) // 4, 8)
            return f" (bit {bit} of 0x{base + byte:08x})"
    return ""


RULE = AddressRule(
    id="mmio",
    why="the protection unit stops it: a memory fault reboots the domain",
    fix="grant the device or the shared memory in the description, or take the access out",
    hardware=(
        "The protection unit opens granted devices and nothing else: a MemManage fault, on RISC-V "
        "an access fault, with the address."
    ),
    manual="ARMv7-M ARM (DDI 0403E) B3.5; RISC-V Instruction Set Manual, volume II, 3.7",
    severity="policy",
    asks_grants=True,
    doubts_numbers=True,
    reach=lambda _: (range(_CORTEX_M.start - _FAR, 0xF8000000 + _FAR),),
    covers=_covers,
    judge=_judge,
    invalid=(),
    valid=("ldr r0, =0x40011000\n ldr r1, [r0]",),
)
