"""STM32F7 where it differs from STM32F4: clocks (RM0410 section 5), over-drive (section 4.1.4)."""

from __future__ import annotations

from composer.chips.chip import Chip
from composer.chips.family import BootOp
from composer.chips.stm32f4 import Stm32F4, modify, wait

_CSR1 = 0x04  # of PWR
_ODEN, _ODSWEN = 1 << 16, 1 << 17  # the flags in CSR1 have the same places

# APB1ENR.RTCAPBEN may be set after a reset, by line.
_RESET = (
    ("RCC", "CR", 0x00, 0x00000083, 0xFFFF00FF),
    ("RCC", "PLLCFGR", 0x04, 0x24003010, 0xFFFFFFFF),
    ("RCC", "CFGR", 0x08, 0x00000000, 0xFFFFFFFF),
    ("RCC", "AHB1ENR", 0x30, 0x00100000, 0xFFFFFFFF),
    ("RCC", "AHB2ENR", 0x34, 0x00000000, 0xFFFFFFFF),
    ("RCC", "AHB3ENR", 0x38, 0x00000000, 0xFFFFFFFF),
    ("RCC", "APB1ENR", 0x40, 0x00000000, 0xFFFFFBFF),
    ("RCC", "APB2ENR", 0x44, 0x00000000, 0xFFFFFFFF),
    ("FLASH", "ACR", 0x00, 0x00000000, 0xFFFFFFFF),
    ("PWR", "CR1", 0x00, 0x0000C000, 0xFFFFFFFF),
)


class Stm32F7(Stm32F4):
    """The family as the composer uses it; clocks of USARTs stay the bus clocks (DCKCFGR2 is 0)."""

    _reset = _RESET
    _voltage = 0b11 << 14
    _flash_aids = 0b11 << 8  # prefetch and ART; they serve the ITCM interface only
    _pll_kept = 0b010 << 28  # R: 0 and 1 are not allowed

    def _over_drive(self, cpu: int, power: int, chip: Chip) -> list[BootOp]:
        """Above 180 MHz the regulator must drive more, before the core runs from the PLL."""
        if cpu <= int(chip.clock_limits["cpu_without_over_drive"]):
            return []
        return [
            modify(power, _ODEN, _ODEN, "over-drive on"),
            wait(power + _CSR1, _ODEN, _ODEN, "over-drive ready"),
            modify(power, _ODSWEN, _ODSWEN, "switch to over-drive"),
            wait(power + _CSR1, _ODSWEN, _ODSWEN, "switched to over-drive"),
        ]
