"""Accesses to interrupt controllers and system timers (RISC-V): CLINT, PLIC, PFIC, ECLIC."""

from __future__ import annotations

from scanner.arch.profiles import Block, profile
from scanner.rules.model import Access, AddressRule
from scanner.target import Target

_FAR = 2048
"""So far from its base a load or store reaches, up and down."""

_TELLING = 0x40000000
"""Smaller constants are masks and sizes more often than addresses."""


def _block(address: int, target: Target) -> Block | None:
    for block in profile(target.profile).blocks:
        if block.base <= address < block.base + block.size:
            return block
    return None


def _reach(target: Target) -> list[range]:
    blocks = profile(target.profile).blocks
    return [range(max(b.base - _FAR, 0), b.base + b.size + _FAR) for b in blocks]


def _covers(address: int, target: Target) -> bool:
    """Whether a load or store from there, with any distance that it can have, reaches a block."""
    near = (address - _FAR, address, address + _FAR - 1)
    return any(_block(place, target) is not None for place in near)


def _judge(access: Access, target: Target) -> str | None:
    block = _block(access.address, target)
    if block is None or (access.kind == "address" and access.address < _TELLING):
        return None
    return f"{access.words} {block.register(access.address, access.exact)}"


RULE = AddressRule(
    id="system",
    why="memory protection stops it, if a PMP entry is on: an access fault reboots the domain",
    fix="use the guest API for interrupts and time",
    hardware=(
        "User mode reaches what a PMP entry opens: an access fault (mcause 5 or 7), measured in "
        "QEMU. With all entries off some cores (CH32V307) let it reach everything: the runtime "
        "must never leave them so."
    ),
    manual="RISC-V Instruction Set Manual, volume II (20211203), 3.7; addresses: scanner/vendors",
    severity="traps",
    reach=_reach,
    covers=_covers,
    judge=_judge,
    invalid=(
        "li a5, 0x02004000\n sw a0, 0(a5)",
        "lui a5, 0x200c\n lw a0, -8(a5)",
        "li a4, 0x0c200000\n li a3, 7\n c.sw a3, 4(a4)",
    ),
    valid=("li a5, 0x20000000\n sw a0, 0(a5)", "lui a0, 0x200c\n ret"),
    assembled_for="rv32imafc",
)
