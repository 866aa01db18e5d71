"""Jumps and calls to where the file has no code: a boot loader's functions, a ROM, RAM."""

from __future__ import annotations

from scanner.rules.model import Access, AddressRule
from scanner.target import Target

_CODE = range(0x100, 0xE0000000)
"""Below are numbers that stand for no function; above is no code of a guest's."""


def _covers(address: int, target: Target) -> bool:
    place, grants = address & ~1, target.policy.grants
    if grants is not None and not any(it.base <= place < it.end for it in grants):
        return False  # the rule on grants speaks of it
    return address in _CODE and not any(place in stretch for stretch in target.scanned)


def _judge(access: Access, target: Target) -> str | None:
    is_jump = access.kind == "jump" and access.exact
    if not target.scanned or not is_jump or not _covers(access.address, target):
        return None
    return leads_away(access.address & ~1)


def leads_away(address: int) -> str:
    """What is said of an instruction that goes there."""
    return f"control goes to 0x{address:08x}, where the file has no code"


RULE = AddressRule(
    id="outside",
    why="what runs there was never scanned",
    fix=(
        "scan what is there too, as one image or by itself; functions of a ROM or a boot loader "
        "aren't reached by a guest"
    ),
    hardware=(
        "Whatever another program, a ROM or start-up code has put there runs, as far as the domain "
        "may execute it."
    ),
    manual="ARMv7-M ARM (DDI 0403E) A4.3",
    severity="policy",
    judges_jumps=True,
    reach=lambda _: (_CODE,),
    covers=_covers,
    judge=_judge,
    invalid=("ldr r3, =0x1fff0001\n blx r3", "ldr r3, =0x1fff0001\n bx r3"),
    valid=("ldr r3, =0x1fff0001\n adds r0, r3, #0\n bx lr", "b ."),
)
