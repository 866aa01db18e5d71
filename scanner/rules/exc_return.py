"""EXC_RETURN: what a handler jumps to when an exception ends."""

from __future__ import annotations

from scanner.rules.model import Access, AddressRule
from scanner.target import Target

_VALUES = {
    False: (range(0xFFFFFFE0, 0x100000000), (0x1, 0x9, 0xD)),
    True: (range(0xFFFFFF80, 0x100000000), (0x0, 0x1, 0x8, 0x9, 0xC, 0xD)),
}
"""By whether the core is an ARMv8-M: where the values lie, and their lowest four bits."""


def _covers(address: int, target: Target) -> bool:
    values, endings = _VALUES[target.arch.startswith("armv8")]
    return address in values and address & 0xF in endings


def _judge(access: Access, target: Target) -> str | None:
    if access.kind != "jump" or not access.exact or not _covers(access.address, target):
        return None
    return f"jump to EXC_RETURN 0x{access.address:08x}"


RULE = AddressRule(
    id="exc-return",
    why="outside of a handler this ends no exception: the core fetches there and faults",
    fix="leave it to the ported context switch; handlers of a virtual machine return by BX LR",
    hardware=(
        "In handler mode a jump to such a value ends the exception. A guest runs in thread mode, "
        "where it is an address that nothing can be executed from: a memory fault."
    ),
    manual="ARMv7-M ARM (DDI 0403E) B1.5.8; ARMv8-M ARM (DDI 0553) chapter B3: exception return",
    severity="traps",
    reach=lambda _: (_VALUES[True][0],),
    covers=_covers,
    judge=_judge,
    invalid=(
        "ldr r0, =0xfffffffd\n bx r0",
        "mvn r0, #2\n bx r0",
        "ldr r1, =0xfffffff9\n mov lr, r1\n bx lr",
        "ldr r2, =0xffffffed\n mov pc, r2",
    ),
    valid=("mvn r0, #2\n bx lr", "ldr r0, =0xfffffffb\n bx r0", "movs r0, #1\n bx lr"),
)
