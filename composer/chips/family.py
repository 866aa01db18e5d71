"""What differs from chip family to chip family beyond data: clock trees, pins, consoles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from composer.chips.chip import Chip
from composer.description.model import Clocks, Pin
from scanner.report.errors import InternalError


@dataclass(frozen=True)
class Frequencies:
    """Hertz."""

    cpu: int
    buses: dict[str, int]


@dataclass(frozen=True)
class BootOp:
    """One step of the boot table (struct fvm_boot_op). kind: WRITE, MODIFY, WAIT."""

    kind: str
    address: int
    mask: int
    value: int
    limit: int
    comment: str


class Family(Protocol):
    """One chip family."""

    def frequencies(self, clocks: Clocks | None, chip: Chip) -> Frequencies:
        """What the clock tree gives; without <clocks> what the chip has after reset."""

    def clock_problem(self, clocks: Clocks | None, chip: Chip) -> tuple[str, str] | None:
        """What is wrong with a clock tree or with having none, and what to do; None if nothing."""

    def clock_ops(self, clocks: Clocks, chip: Chip) -> list[BootOp]:
        """Steps that set the clock tree up."""

    def reset_state(self, chip: Chip) -> dict[int, tuple[str, int, int]]:
        """Shared registers by address: name for C, value after a reset, bits that are certain."""

    def pin_ops(self, pins: Sequence[Pin], chip: Chip) -> list[BootOp]:
        """Steps that set pins up; the ports' clocks are on already."""

    def pin_port(self, pin: Pin) -> str:
        """Name of the device that holds the pin's registers."""

    def pin_set_address(self, port: str, chip: Chip) -> int:
        """Set/reset register of a port."""

    def baud_divider(self, device: str, baud: int, frequencies: Frequencies, chip: Chip) -> int:
        """Value of a UART's divider register."""


def family_of(chip: Chip) -> Family:
    """The family module of a chip."""
    from composer.chips.mps2 import Mps2
    from composer.chips.stm32f4 import Stm32F4
    from composer.chips.stm32f7 import Stm32F7

    families: dict[str, type[Family]] = {"mps2": Mps2, "stm32f4": Stm32F4, "stm32f7": Stm32F7}
    if chip.family in families:
        return families[chip.family]()
    raise InternalError(f"no family module for '{chip.family}'")
