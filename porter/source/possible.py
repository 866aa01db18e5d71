"""Addresses of which it isn't known that they are the ones: one of two, one of a table's."""

from __future__ import annotations

from collections.abc import Iterable

from porter.source.c_types import UNKNOWN, CType
from porter.source.values import Initial, Number, Pointer, Value

ANYWHERE = 1 << 32
"""The span of a pointer that may lead elsewhere, too."""

LOWEST_PERIPHERAL = 0x0200_0000  # the CLINT of many RISC-V chips
LOWEST_MEMORY = 0x0800_0000
"""Where flash begins that a table of sectors names; what is smaller is a size."""
_LOWEST_HELD = 0x4000_0000  # what integers hold that is smaller is a size or a place in memory
_MASK = 0xFFFF_FFFF


def address_in(value: Value | None, lowest: int = _LOWEST_HELD) -> int | None:
    """The address that a value may be, if it is one."""
    match value:
        case Number(value=number) | Initial(value=number):
            return number & _MASK if number & _MASK >= lowest else None
        case Pointer(address=int() as address):
            return address
    return None


def one_of(
    values: Iterable[Value | None], kind: CType = UNKNOWN, lowest: int = _LOWEST_HELD
) -> Pointer | None:
    """A pointer to one of several places, as far as one of the values is an address."""
    found = [address_in(value, lowest) for value in values]
    addresses = [address for address in found if address is not None]
    if not addresses:
        return None
    span = 0 if len(set(found)) == 1 else ANYWHERE
    return Pointer(addresses[0], kind, span, exact=False)
