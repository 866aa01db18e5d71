"""Arm's MPS2 boards: one fixed clock, no pins to set up (QEMU's mps2-an385, -an386, -an500)."""

from __future__ import annotations

from collections.abc import Sequence

from composer.chips.chip import Chip
from composer.chips.family import BootOp, Frequencies
from composer.description.model import Clocks, Pin

_LEAST_DIVIDER = 16  # of the UART (Arm DDI 0479, section 4.4)


class Mps2:
    """The family as the composer uses it."""

    def frequencies(self, clocks: Clocks | None, chip: Chip) -> Frequencies:
        """What the board gives; buses run as fast as the core."""
        return Frequencies(int(chip.clock_limits["cpu"]), {})

    def clock_problem(self, clocks: Clocks | None, chip: Chip) -> tuple[str, str] | None:
        """Nothing can be set."""
        if clocks is None:
            return None
        return f"the clock of {chip.name} can't be set", "remove <clocks>"

    def clock_ops(self, clocks: Clocks, chip: Chip) -> list[BootOp]:
        """None."""
        return []

    def reset_state(self, chip: Chip) -> dict[int, tuple[str, int, int]]:
        """No shared register that ported code could ask for."""
        return {}

    def pin_ops(self, pins: Sequence[Pin], chip: Chip) -> list[BootOp]:
        """None: the chip data has no pins."""
        return []

    def pin_port(self, pin: Pin) -> str:
        """No device has such a name."""
        return f"GPIO{pin.port}"

    def pin_set_address(self, port: str, chip: Chip) -> int:
        """Never asked: no pin passes the checks."""
        raise KeyError(port)

    def baud_divider(self, device: str, baud: int, frequencies: Frequencies, chip: Chip) -> int:
        """BAUDDIV: processor clocks a bit, at least 16."""
        return max(_LEAST_DIVIDER, (frequencies.cpu + baud // 2) // baud)
