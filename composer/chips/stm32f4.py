"""STM32F4: clock tree (RM0090 section 7), pins (section 8), USART divider (section 30.3.4).
What a related family does otherwise is a protected member of the class.

The order of the clock steps is RM0090's: oscillator, voltage scale, PLL, wait states, dividers,
PLL on, switch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from composer.chips.chip import Chip
from composer.chips.family import BootOp, Frequencies
from composer.description.model import Clocks, Pin, Pll

_WAIT_READS = 20000  # HSE starts within 2 ms (DS8626): below 4000 reads at 16 MHz

# RCC registers
_CR, _PLLCFGR, _CFGR, _APB1ENR = 0x00, 0x04, 0x08, 0x40
_HSEON, _HSERDY, _PLLON, _PLLRDY = 1 << 16, 1 << 17, 1 << 24, 1 << 25
_PWREN = 1 << 28
_PLL_FROM_HSE = 1 << 22
_SW_MASK, _SW_HSE, _SW_PLL = 0b11, 0b01, 0b10
_SWS_SHIFT = 2
# PWR_CR and FLASH_ACR
_VOS_SCALE_1 = 1 << 14
_CACHES_AND_PREFETCH = 0b111 << 8

_AHB = {1: 0, 2: 8, 4: 9, 8: 10, 16: 11, 64: 12, 128: 13, 256: 14, 512: 15}
_APB = {1: 0, 2: 4, 4: 5, 8: 6, 16: 7}

# Registers that only the boot table writes: block, name, offset, reset value, bits that are certain
_RESET = (
    ("RCC", "CR", 0x00, 0x00000083, 0xFFFF00FF),
    ("RCC", "PLLCFGR", 0x04, 0x24003010, 0xFFFFFFFF),
    ("RCC", "CFGR", 0x08, 0x00000000, 0xFFFFFFFF),
    ("RCC", "AHB1ENR", 0x30, 0x00100000, 0xFFFFFFFF),
    ("RCC", "AHB2ENR", 0x34, 0x00000000, 0xFFFFFFFF),
    ("RCC", "AHB3ENR", 0x38, 0x00000000, 0xFFFFFFFF),
    ("RCC", "APB1ENR", 0x40, 0x00000000, 0xFFFFFFFF),
    ("RCC", "APB2ENR", 0x44, 0x00000000, 0xFFFFFFFF),
    ("FLASH", "ACR", 0x00, 0x00000000, 0xFFFFFFFF),
    ("PWR", "CR", 0x00, 0x00004000, 0xFFFFFFFF),
)

# GPIO registers
_MODER, _OTYPER, _OSPEEDR, _PUPDR, _BSRR, _AFRL, _AFRH = 0, 4, 8, 0x0C, 0x18, 0x20, 0x24
_MODE = {"input": 0, "output": 1, "alternate": 2, "analog": 3}
_OUTPUT = {"push-pull": 0, "open-drain": 1}
_SPEED = {"low": 0, "medium": 1, "high": 2, "very-high": 3}
_PULL = {"none": 0, "up": 1, "down": 2}


class Stm32F4:
    """The family as the composer uses it."""

    _reset = _RESET
    _voltage = _VOS_SCALE_1
    _flash_aids = _CACHES_AND_PREFETCH
    _pll_kept = 0  # bits of PLLCFGR that stay as after a reset

    def _over_drive(self, cpu: int, power: int, chip: Chip) -> list[BootOp]:
        """Steps between PLL on and PLL ready."""
        return []

    def frequencies(self, clocks: Clocks | None, chip: Chip) -> Frequencies:
        """Core and bus clocks."""
        hsi = int(chip.clock_limits["hsi"])
        if clocks is None:
            return Frequencies(hsi, {"HCLK1": hsi, "PCLK1": hsi, "PCLK2": hsi})
        cpu = clocks.root_hz(hsi) // clocks.ahb
        return Frequencies(
            cpu, {"HCLK1": cpu, "PCLK1": cpu // clocks.apb1, "PCLK2": cpu // clocks.apb2}
        )

    def clock_problem(self, clocks: Clocks | None, chip: Chip) -> tuple[str, str] | None:
        """The first limit that is broken."""
        if clocks is None:
            return "<system> has no <clocks>", "add one with the PLL factors"
        limits = chip.clock_limits
        if clocks.pll is not None and (problem := _factor_problem(clocks.pll, limits)):
            return problem
        for name, choices in (("ahb", _AHB), ("apb1", _APB), ("apb2", _APB)):
            value = getattr(clocks, name)
            if value not in choices:
                return f"clock divider {name}={value}", f"choose one of {_words(choices)}"
        buses = self.frequencies(clocks, chip)
        ranges: list[tuple[str, float, float, float]] = [
            ("core clock", buses.cpu, 0, limits["cpu"]),
            ("APB1 clock", buses.buses["PCLK1"], 0, limits["apb1"]),
            ("APB2 clock", buses.buses["PCLK2"], 0, limits["apb2"]),
        ]
        if clocks.pll is not None:
            source = clocks.hse if clocks.source == "HSE" else int(limits["hsi"])
            pll_input = source / clocks.pll.m
            ranges[:0] = [
                ("PLL input (source / m)", pll_input, *limits["pll_input"]),
                ("PLL output before p (source / m * n)", pll_input * clocks.pll.n, *limits["vco"]),
            ]
        if clocks.source == "HSE":
            ranges.insert(0, ("hse", clocks.hse, *limits["hse"]))
        for what, value, low, high in ranges:
            if not low <= value <= high:
                above = f"{low / 1e6:g} to" if low else "at most"
                allowed = f"{chip.name} allows {above} {high / 1e6:g} MHz"
                return f"{what} is {value / 1e6:g} MHz", allowed
        least = -(-buses.cpu // int(limits["hz_per_wait_state"])) - 1
        if not least <= clocks.latency <= limits["wait_states"]:
            return (
                f"flash latency {clocks.latency} at {buses.cpu / 1e6:g} MHz",
                f"choose {least} to {limits['wait_states']}",
            )
        return None

    def clock_ops(self, clocks: Clocks, chip: Chip) -> list[BootOp]:
        """The PLL as system clock, or the oscillator alone; the chip starts from HSI."""
        rcc = chip.devices["RCC"].base
        power, flash = chip.devices["PWR"].base, chip.devices["FLASH"].base
        hse = clocks.source == "HSE"
        ops: list[BootOp] = []
        if hse:
            ops.append(modify(rcc + _CR, _HSEON, _HSEON, "HSE on"))
            ops.append(wait(rcc + _CR, _HSERDY, _HSERDY, "HSE ready"))
        ops += [
            modify(rcc + _APB1ENR, _PWREN, _PWREN, "power interface on"),
            modify(power, self._voltage, self._voltage, "voltage scale 1"),
        ]
        if clocks.pll is not None:
            pll = clocks.pll
            factors = pll.m | pll.n << 6 | (pll.p // 2 - 1) << 16 | pll.q << 24 | self._pll_kept
            ops.append(
                _write(rcc + _PLLCFGR, factors | (_PLL_FROM_HSE if hse else 0), "PLL factors")
            )
        dividers = _AHB[clocks.ahb] << 4 | _APB[clocks.apb1] << 10 | _APB[clocks.apb2] << 13
        ops += [
            _write(flash, clocks.latency | self._flash_aids, "wait states, caches"),
            modify(rcc + _CFGR, 0xFCF0, dividers, "bus dividers"),
        ]
        if clocks.pll is not None:
            ops += [
                modify(rcc + _CR, _PLLON, _PLLON, "PLL on"),
                *self._over_drive(self.frequencies(clocks, chip).cpu, power, chip),
                wait(rcc + _CR, _PLLRDY, _PLLRDY, "PLL ready"),
                *_switch(rcc, _SW_PLL, "the PLL"),
            ]
        elif hse:
            ops += _switch(rcc, _SW_HSE, "HSE")
        return ops

    def reset_state(self, chip: Chip) -> dict[int, tuple[str, int, int]]:
        """RM0090: clocks, flash timing, voltage. HSI's calibration differs from chip to chip; the
        causes of a reset and the backup domain outlive a reset, so they are not here."""
        bases = {name: chip.devices[name].base for name in ("RCC", "FLASH", "PWR")}
        return {
            bases[block] + offset: (f"{block}_{name}", value, known)
            for block, name, offset, value, known in self._reset
        }

    def pin_port(self, pin: Pin) -> str:
        """GPIOA and so on."""
        return f"GPIO{pin.port}"

    def pin_set_address(self, port: str, chip: Chip) -> int:
        """BSRR."""
        return chip.devices[f"GPIO{port}"].base + _BSRR

    def pin_ops(self, pins: Sequence[Pin], chip: Chip) -> list[BootOp]:
        """One step a register; the mode comes last so that no pin drives a wrong signal."""
        registers: dict[tuple[str, int], tuple[int, int]] = {}

        def put(port: str, register: int, width: int, position: int, value: int) -> None:
            mask, values = registers.get((port, register), (0, 0))
            shift = width * position
            registers[port, register] = (
                mask | (2**width - 1) << shift,
                values | value << shift,
            )

        for pin in pins:
            if pin.alternate is not None:
                put(pin.port, _AFRH if pin.number > 7 else _AFRL, 4, pin.number % 8, pin.alternate)
            put(pin.port, _OTYPER, 1, pin.number, _OUTPUT[pin.output])
            put(pin.port, _OSPEEDR, 2, pin.number, _SPEED[pin.speed])
            put(pin.port, _PUPDR, 2, pin.number, _PULL[pin.pull])
            put(pin.port, _MODER, 2, pin.number, _MODE[pin.mode])
        order = (_AFRL, _AFRH, _OTYPER, _OSPEEDR, _PUPDR, _MODER)
        return [
            modify(chip.devices[f"GPIO{port}"].base + register, mask, value, f"port {port}")
            for (port, register), (mask, value) in sorted(
                registers.items(), key=lambda item: (item[0][0], order.index(item[0][1]))
            )
        ]

    def baud_divider(self, device: str, baud: int, frequencies: Frequencies, chip: Chip) -> int:
        """BRR with oversampling by 16: the clock divided by the rate, rounded."""
        clock = frequencies.buses[chip.devices[device].bus]
        return (clock + baud // 2) // baud


def _factor_problem(pll: Pll, limits: Mapping[str, Any]) -> tuple[str, str] | None:
    if pll.p not in limits["p"]:
        return f"clock divider p={pll.p}", f"choose one of {_words(limits['p'])}"
    for name in ("m", "n", "q"):
        low, high = limits[name]
        if not low <= getattr(pll, name) <= high:
            return f"PLL factor {name}={getattr(pll, name)}", f"choose {low} to {high}"
    return None


def _switch(rcc: int, source: int, name: str) -> list[BootOp]:
    """SW, and SWS says so."""
    return [
        modify(rcc + _CFGR, _SW_MASK, source, f"switch to {name}"),
        wait(rcc + _CFGR, _SW_MASK << _SWS_SHIFT, source << _SWS_SHIFT, "switched"),
    ]


def _words(choices: Sequence[int] | dict[int, int]) -> str:
    return ", ".join(str(choice) for choice in choices)


def _write(address: int, value: int, comment: str) -> BootOp:
    return BootOp("WRITE", address, 0xFFFFFFFF, value, 0, comment)


def modify(address: int, mask: int, value: int, comment: str) -> BootOp:
    """Change some bits."""
    return BootOp("MODIFY", address, mask, value, 0, comment)


def wait(address: int, mask: int, value: int, comment: str) -> BootOp:
    """Wait, not for ever, until some bits are as told."""
    return BootOp("WAIT", address, mask, value, _WAIT_READS, comment)
