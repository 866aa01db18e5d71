"""Blocks of RISC-V chips that belong to the system: CLINT, PLIC, PFIC, ECLIC, by vendors' data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from porter.registers.register import Register
from scanner.arch.chips import chip
from scanner.arch.profiles import Block, all_profiles, profile
from scanner.report.errors import MissingError

SYSTEM = "RISC-V system"
"""The `block` of their registers, so that no rule on Cortex-M's takes them for its own."""


@dataclass(frozen=True)
class RiscvSpace:
    """The system's blocks of one chip, or of all that are known where nobody named the chip."""

    blocks: tuple[Block, ...]

    sure = False
    has_aliases = False
    marks_handlers = True
    own_lines = 16  # of WCH's NVIC_EnableIRQ(): SysTick is 12, the software interrupt 14

    def holds(self, address: int) -> bool:
        """Whether an address lies in a block."""
        return self._block(address) is not None

    def begins_block(self, address: int) -> bool:
        """Whether a block begins there."""
        return any(block.base == address for block in self.blocks)

    def identify(self, address: int, exact: bool = True) -> Register | None:
        """The register at an address; None outside the blocks. `exact`: no unknown index."""
        block = self._block(address)
        if block is None:
            return None
        name = block.register(address, exact).removeprefix(f"{block.name}->")
        return Register(SYSTEM, name, 0 if exact else None, block.name)

    def knows(self, address: int) -> bool:
        """Whether a block has a register of a name there."""
        block = self._block(address)
        return block is not None and any(
            0 <= address - block.base - offset < count * size
            for _, offset, count, size in block.registers
        )

    def exception_named(self, name: str) -> int | None:
        """As SystemSpace says; makers of RISC-V chips number theirs as they like."""
        return None

    def memory_at(self, address: int) -> Register | None:
        """None: each chip has its memory somewhere else, and devices in between."""

    def _block(self, address: int) -> Block | None:
        return next((b for b in self.blocks if b.base <= address < b.base + b.size), None)


@cache
def riscv_space(chip_name: str | None) -> RiscvSpace:
    """That of the chip of that name."""
    name = None
    if chip_name is not None:
        try:
            name = chip(chip_name).profile
        except MissingError:
            name = None  # a chip that the scanner doesn't know may have any of them
    if name is not None:
        return RiscvSpace(profile(name).blocks)
    return RiscvSpace(tuple(block for known in all_profiles() for block in known.blocks))
