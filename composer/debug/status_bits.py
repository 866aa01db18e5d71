"""Fault status registers by name (Armv7-M ARM B3.2.15, B3.2.16)."""

from __future__ import annotations

CFSR = {
    0: ("IACCVIOL", "instruction fetch from memory that may not be executed"),
    1: ("DACCVIOL", "data access that the protection unit refused"),
    3: ("MUNSTKERR", "protection fault while an exception's frame was read back"),
    4: ("MSTKERR", "protection fault while an exception's frame was stored"),
    5: ("MLSPERR", "protection fault while FPU registers were stored lazily"),
    7: ("MMARVALID", "MMFAR holds the address"),
    8: ("IBUSERR", "bus error on an instruction fetch"),
    9: ("PRECISERR", "bus error on a data access, at this instruction"),
    10: ("IMPRECISERR", "bus error on an earlier data access"),
    11: ("UNSTKERR", "bus error while an exception's frame was read back"),
    12: ("STKERR", "bus error while an exception's frame was stored"),
    13: ("LSPERR", "bus error while FPU registers were stored lazily"),
    15: ("BFARVALID", "BFAR holds the address"),
    16: ("UNDEFINSTR", "undefined instruction"),
    17: ("INVSTATE", "jump to an address that is no Thumb code"),
    18: ("INVPC", "invalid exception return"),
    19: ("NOCP", "use of the FPU, which is off"),
    24: ("UNALIGNED", "unaligned access"),
    25: ("DIVBYZERO", "division by zero"),
}
HFSR = {
    1: ("VECTTBL", "bus error on reading the vector table"),
    30: ("FORCED", "another fault could not be taken as such"),
    31: ("DEBUGEVT", "breakpoint without a debugger"),
}
MMARVALID, BFARVALID = 1 << 7, 1 << 15


def names(status: int, table: dict[int, tuple[str, str]]) -> list[tuple[str, str]]:
    """(name, meaning) of the bits that are set; a reserved one is named by its number."""
    set_bits = (bit for bit in range(32) if status >> bit & 1)
    return [table.get(bit, (f"bit {bit}", "reserved")) for bit in set_bits]
