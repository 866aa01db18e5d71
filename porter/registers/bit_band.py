"""Bit-band aliases of Cortex-M3 and M4: a word for each bit of the peripherals' first megabyte."""

from __future__ import annotations

_PERIPHERALS = 0x4000_0000
_ALIASES = (0x4200_0000, 0x4400_0000)


def is_alias(address: int) -> bool:
    """Whether an address stands for one bit of a peripheral register."""
    return _ALIASES[0] <= address < _ALIASES[1]


def aliased(address: int) -> tuple[int, int]:
    """The word-aligned register address, and the number of the bit in it."""
    offset = address - _ALIASES[0]
    byte = offset >> 5
    bit = (offset & 31) >> 2
    return _PERIPHERALS + (byte & ~3), bit + 8 * (byte & 3)
