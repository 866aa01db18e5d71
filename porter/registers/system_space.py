"""Registers of the private peripheral bus (Armv7-M ARM B3.2, C1), named as CMSIS names them."""

from __future__ import annotations

from bisect import bisect_right
from typing import Protocol

from porter.registers.memory import memory_at
from porter.registers.register import Register
from porter.registers.system_exceptions import exception_named

PPB_START = 0xE000_0000
PPB_END = 0xE010_0000

# (address, bytes, block, register); whatever lies between belongs to the entry `*` of its block.
_MAP: tuple[tuple[int, int, str, str], ...] = (
    (0xE0000000, 0x80, "ITM", "PORT"),
    (0xE0000080, 0xF80, "ITM", "*"),
    (0xE0001000, 4, "DWT", "CTRL"),
    (0xE0001004, 4, "DWT", "CYCCNT"),
    (0xE0001008, 0xFF8, "DWT", "*"),
    (0xE0002000, 0x1000, "FPB", "*"),
    (0xE000E004, 4, "SCnSCB", "ICTR"),
    (0xE000E008, 4, "SCnSCB", "ACTLR"),
    (0xE000E010, 4, "SysTick", "CTRL"),
    (0xE000E014, 4, "SysTick", "LOAD"),
    (0xE000E018, 4, "SysTick", "VAL"),
    (0xE000E01C, 4, "SysTick", "CALIB"),
    (0xE000E100, 0x40, "NVIC", "ISER"),
    (0xE000E180, 0x40, "NVIC", "ICER"),
    (0xE000E200, 0x40, "NVIC", "ISPR"),
    (0xE000E280, 0x40, "NVIC", "ICPR"),
    (0xE000E300, 0x40, "NVIC", "IABR"),
    # Software that scans priorities by exception number starts 16 bytes below the first one.
    (0xE000E3F0, 0x10, "NVIC", "IP"),
    (0xE000E400, 0x3F0, "NVIC", "IP"),
    (0xE000ED00, 4, "SCB", "CPUID"),
    (0xE000ED04, 4, "SCB", "ICSR"),
    (0xE000ED08, 4, "SCB", "VTOR"),
    (0xE000ED0C, 4, "SCB", "AIRCR"),
    (0xE000ED10, 4, "SCB", "SCR"),
    (0xE000ED14, 4, "SCB", "CCR"),
    (0xE000ED18, 12, "SCB", "SHP"),
    (0xE000ED24, 4, "SCB", "SHCSR"),
    (0xE000ED28, 4, "SCB", "CFSR"),
    (0xE000ED2C, 4, "SCB", "HFSR"),
    (0xE000ED30, 4, "SCB", "DFSR"),
    (0xE000ED34, 4, "SCB", "MMFAR"),
    (0xE000ED38, 4, "SCB", "BFAR"),
    (0xE000ED3C, 4, "SCB", "AFSR"),
    (0xE000ED40, 0x40, "SCB", "ID"),
    (0xE000ED88, 4, "SCB", "CPACR"),
    (0xE000ED90, 0x40, "MPU", "*"),
    (0xE000EDD0, 0x20, "SAU", "*"),
    (0xE000EDF0, 4, "CoreDebug", "DHCSR"),
    (0xE000EDF4, 8, "CoreDebug", "*"),
    (0xE000EDFC, 4, "CoreDebug", "DEMCR"),
    (0xE000EF00, 4, "NVIC", "STIR"),
    (0xE000EF34, 4, "FPU", "FPCCR"),
    (0xE000EF38, 4, "FPU", "FPCAR"),
    (0xE000EF3C, 4, "FPU", "FPDSCR"),
    (0xE000EF40, 0x10, "FPU", "ID"),
    (0xE000EF50, 0x30, "SCB", "CACHE"),
)
_STARTS = [entry[0] for entry in _MAP]


def in_system_space(address: int) -> bool:
    """Whether an address lies on the private peripheral bus."""
    return PPB_START <= address < PPB_END


def identify(address: int, exact: bool = True) -> Register | None:
    """The register at an address; None outside the system space. `exact`: no unknown index."""
    if not in_system_space(address):
        return None
    index = bisect_right(_STARTS, address) - 1
    if index >= 0:
        start, size, block, name = _MAP[index]
        is_alone = size <= 4 and name != "*"
        if not exact and is_alone:  # what stands at an unknown offset is another register
            return Register("PPB", f"0x{address:08X}+", None, None)
        if address < start + size:
            base = 0xE000E400 if name == "IP" else start
            return Register(block, name, address - base if exact else None, block)
    return Register("PPB", f"0x{address:08X}", 0, None)


class SystemSpace(Protocol):
    """Where the registers of a machine's system are: what no domain owns, whatever the chip.

    `sure`: a number there is an address wherever it stands. `has_aliases`: the peripherals' first
    megabyte has a word for each bit elsewhere. `marks_handlers`: C makes a trap's handler of a
    function by an attribute. `own_lines`: numbers from 0 up to this one that functions for lines
    take for exceptions of the core's own.
    """

    @property
    def sure(self) -> bool:
        """See above."""

    @property
    def has_aliases(self) -> bool:
        """See above."""

    @property
    def marks_handlers(self) -> bool:
        """See above."""

    @property
    def own_lines(self) -> int:
        """See above."""

    def holds(self, address: int) -> bool:
        """Whether an address belongs to the system."""

    def begins_block(self, address: int) -> bool:
        """Whether a block of registers begins there."""

    def identify(self, address: int, exact: bool = True) -> Register | None:
        """The register at an address; None outside. `exact`: no unknown index."""

    def knows(self, address: int) -> bool:
        """Whether a register is known to be at an address."""

    def exception_named(self, name: str) -> int | None:
        """The number of an exception of the core's own, below all lines; None for other names."""

    def memory_at(self, address: int) -> Register | None:
        """What an address is that can only be memory, as a register; None for others."""


class ArmSpace:
    """That of Cortex-M."""

    sure = True
    has_aliases = True
    marks_handlers = False
    own_lines = 0

    def holds(self, address: int) -> bool:
        """As SystemSpace says."""
        return in_system_space(address)

    def begins_block(self, address: int) -> bool:
        """The system control space; its registers' addresses say so themselves."""
        return address == 0xE000_E000

    def identify(self, address: int, exact: bool = True) -> Register | None:
        """As SystemSpace says."""
        return identify(address, exact)

    def knows(self, address: int) -> bool:
        """As SystemSpace says."""
        register = identify(address)
        return register is not None and register.block != "PPB"

    def exception_named(self, name: str) -> int | None:
        """As SystemSpace says."""
        return exception_named(name)

    def memory_at(self, address: int) -> Register | None:
        """As SystemSpace says."""
        return memory_at(address)
