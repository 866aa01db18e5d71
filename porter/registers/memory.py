"""Memory of a Cortex-M at fixed addresses: what is there belongs to whom the layout says."""

from __future__ import annotations

from porter.registers.register import Register

MEMORY = "memory"
VENDORS = "vendor's system space"
_FIRST = 0x400  # below it a number is an offset from a null pointer more often than an address
# Armv7-M Architecture Reference Manual, B3.1: the system address map.
_KINDS = (
    (range(_FIRST, 0x2000_0000), "code memory"),
    (range(0x2000_0000, 0x4000_0000), "RAM"),
    (range(0x6000_0000, 0xA000_0000), "external memory"),
    (range(0xE010_0000, 0x1_0000_0000), VENDORS),
)


def memory_at(address: int) -> Register | None:
    """A word of memory as a register of what its address says it is; None for other addresses."""
    for addresses, kind in _KINDS:
        if address in addresses:
            return Register(MEMORY, f"0x{address:08X}", 0, kind)
    return None
