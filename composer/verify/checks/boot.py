"""Does the boot table set the clocks and pins that the description names, and nothing else?

The table is run on a model of the registers, from their values after reset (RM0090: RCC section 7,
GPIO section 8, PWR section 5, flash interface section 3; RM0410: sections 5, 6, 4, 3). What is
in them at the end must be what the description says; how the table gets there is free, but for the
order that the chip needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from composer.description.model import Clocks, Pin
from composer.verify.subject import Subject
from composer.verify.tables import BootStep

WRITE, MODIFY, WAIT = range(3)
LONGEST_WAIT = 1_000_000  # reads: below a second

_RCC = {"CR": 0x00, "PLLCFGR": 0x04, "CFGR": 0x08, "AHB1ENR": 0x30, "APB1ENR": 0x40}
_RCC_RESET = {"CR": 0x83, "PLLCFGR": 0x24003010, "AHB1ENR": 0x00100000}
_GPIO = {"MODER": 0x00, "OTYPER": 0x04, "OSPEEDR": 0x08, "PUPDR": 0x0C, "AFRL": 0x20, "AFRH": 0x24}
_GPIO_RESET = {
    ("A", "MODER"): 0xA8000000, ("A", "OSPEEDR"): 0x0C000000, ("A", "PUPDR"): 0x64000000,
    ("B", "MODER"): 0x00000280, ("B", "OSPEEDR"): 0x000000C0, ("B", "PUPDR"): 0x00000100,
}  # fmt: skip
_MODES = ("input", "output", "alternate", "analog")
_SPEEDS = ("low", "medium", "high", "very-high")
_PULLS = ("none", "up", "down")
_DIVIDERS_AHB = {1: 0, 2: 8, 4: 9, 8: 10, 16: 11, 64: 12, 128: 13, 256: 14, 512: 15}
_DIVIDERS_APB = {1: 0, 2: 4, 4: 5, 8: 6, 16: 7}

_HSE_ON, _HSE_READY, _PLL_ON, _PLL_READY = 1 << 16, 1 << 17, 1 << 24, 1 << 25
_POWER_CLOCK = 1 << 28
_PLL_SOURCE_HSE = 1 << 22
_SWITCHED_SHIFT, _SWITCHED_MASK = 2, 3 << 2
_HSI, _HSE, _PLL = range(3)  # in CFGR: SW, SWS
_OVER_DRIVE, _OVER_DRIVE_SWITCH = 1 << 16, 1 << 17  # in PWR_CR1, and their flags in PWR_CSR1


@dataclass(frozen=True)
class _Family:
    """Where the families differ."""

    scale_1: int  # in PWR's first register, which holds it after a reset too
    accelerators: int  # in FLASH_ACR
    pll_kept: int  # in PLLCFGR: stays as after a reset
    over_drive_above: int | None  # Hz


_FAMILIES = {
    "stm32f4": _Family(1 << 14, 7 << 8, 0, None),
    "stm32f7": _Family(3 << 14, 3 << 8, 2 << 28, 180_000_000),
}


class _Registers:
    """The registers that a boot table may touch: values now, and as they should end."""

    def __init__(self, subject: Subject, family: _Family) -> None:
        self.family = family
        self.names: dict[int, str] = {}
        self.now: dict[int, int] = {}
        devices = subject.chip.devices
        self.rcc, self.flash = devices["RCC"].base, devices["FLASH"].base
        self.power = devices["PWR"].base
        for name, offset in _RCC.items():
            self._put(self.rcc + offset, f"RCC {name}", _RCC_RESET.get(name, 0))
        self._put(self.power, "PWR CR", family.scale_1)
        if family.over_drive_above is not None:
            self._put(self.power + 4, "PWR CSR1", 0)
        self._put(self.flash, "FLASH ACR", 0)
        for device in devices.values():
            if device.kind == "gpio":
                port = device.name[-1]
                for name, offset in _GPIO.items():
                    reset = _GPIO_RESET.get((port, name), 0)
                    self._put(device.base + offset, f"GPIO{port} {name}", reset)
            if device.enable is not None:
                self.names.setdefault(device.enable[0], f"enable 0x{device.enable[0]:08x}")
                self.now.setdefault(device.enable[0], 0)
        self.wanted = dict(self.now)

    def _put(self, address: int, name: str, value: int) -> None:
        self.names[address], self.now[address] = name, value

    def want(self, address: int, mask: int, value: int) -> None:
        """Bits that the description sets."""
        self.wanted[address] = self.wanted[address] & ~mask | value


def check_boot(subject: Subject) -> Iterator[str]:
    """Run the table and compare."""
    if subject.chip.family == "mps2":
        if subject.tables.boot:
            yield f"{len(subject.tables.boot)} boot steps; {subject.chip.name} has nothing to set"
        return
    family = _FAMILIES.get(subject.chip.family)
    if family is None:
        yield f"no model of the clocks and pins of the family '{subject.chip.family}'"
        return
    registers = _Registers(subject, family)
    yield from _run(subject.tables.boot, registers)
    clocks = _clocks(subject)
    if clocks is not None:
        _want_clocks(subject, clocks, registers)
        yield from _order(subject, clocks, registers)
    _want_devices(subject, registers)
    for address, name in registers.names.items():
        now, wanted = registers.now[address], registers.wanted[address]
        if now != wanted:
            yield f"{name} ends as 0x{now:08x}, the description implies 0x{wanted:08x}"


def _run(steps: tuple[BootStep, ...], registers: _Registers) -> Iterator[str]:
    for number, step in enumerate(steps):
        where = f"boot step {number} at 0x{step.address:08x}"
        if step.address not in registers.now:
            yield f"{where}: not a register that clocks and pins need"
        elif step.kind == WRITE and step.mask == 0xFFFFFFFF and step.limit == 0:
            registers.now[step.address] = step.value
        elif step.kind == MODIFY and not step.value & ~step.mask and step.limit == 0:
            registers.now[step.address] = registers.now[step.address] & ~step.mask | step.value
        elif step.kind == WAIT and not step.value & ~step.mask and 0 < step.limit <= LONGEST_WAIT:
            continue
        else:
            yield f"{where}: kind {step.kind}, mask 0x{step.mask:08x}, limit {step.limit}"


def _clocks(subject: Subject) -> Clocks | None:
    described = (*subject.system.clocks, *(c for d in subject.system.domains for c in d.clocks))
    return described[0] if described else None


def _want_clocks(subject: Subject, clocks: Clocks, registers: _Registers) -> None:
    rcc, hse = registers.rcc, clocks.source == "HSE"
    on = (_PLL_ON if clocks.pll else 0) | (_HSE_ON if hse else 0)
    registers.want(rcc + _RCC["CR"], on, on)
    family = registers.family
    if clocks.pll is not None:
        pll = clocks.pll
        factors = pll.m | pll.n << 6 | (pll.p // 2 - 1) << 16 | pll.q << 24
        source = _PLL_SOURCE_HSE if hse else 0
        registers.want(rcc + _RCC["PLLCFGR"], 0xFFFFFFFF, factors | source | family.pll_kept)
    dividers = (
        _DIVIDERS_AHB.get(clocks.ahb, 0) << 4
        | _DIVIDERS_APB.get(clocks.apb1, 0) << 10
        | _DIVIDERS_APB.get(clocks.apb2, 0) << 13
    )
    registers.want(rcc + _RCC["CFGR"], 0xFFFFFFFF, dividers | _in_use(clocks))
    registers.want(rcc + _RCC["APB1ENR"], _POWER_CLOCK, _POWER_CLOCK)
    registers.want(registers.flash, 0xFFFFFFFF, clocks.latency | family.accelerators)
    registers.want(registers.power, family.scale_1, family.scale_1)
    if _needs_over_drive(subject, family):
        both = _OVER_DRIVE | _OVER_DRIVE_SWITCH
        registers.want(registers.power, both, both)


def _in_use(clocks: Clocks) -> int:
    """What SW and SWS say."""
    if clocks.pll is not None:
        return _PLL
    return _HSE if clocks.source == "HSE" else _HSI


def _needs_over_drive(subject: Subject, family: _Family) -> bool:
    above = family.over_drive_above
    return above is not None and subject.expected.cpu_hz > above


def _order(subject: Subject, clocks: Clocks, registers: _Registers) -> Iterator[str]:
    """What has to come before what, or the chip runs from a clock that isn't there."""
    cr, cfgr = registers.rcc + _RCC["CR"], registers.rcc + _RCC["CFGR"]
    hse = clocks.source == "HSE"
    power = registers.power
    over_drive = [
        ("over-drive", MODIFY, power, _OVER_DRIVE),
        ("over-drive ready", WAIT, power + 4, _OVER_DRIVE),
        ("over-drive switch", MODIFY, power, _OVER_DRIVE_SWITCH),
        ("over-drive switched", WAIT, power + 4, _OVER_DRIVE_SWITCH),
    ]
    steps = [
        *([("HSE on", MODIFY, cr, _HSE_ON), ("HSE ready", WAIT, cr, _HSE_READY)] if hse else []),
        *([("PLL factors", WRITE, registers.rcc + _RCC["PLLCFGR"], None)] if clocks.pll else []),
        ("wait states", WRITE, registers.flash, None),
    ]
    if clocks.pll:
        steps += [
            ("PLL on", MODIFY, cr, _PLL_ON),
            *(over_drive if _needs_over_drive(subject, registers.family) else []),
            ("PLL ready", WAIT, cr, _PLL_READY),
        ]
    if used := _in_use(clocks):  # HSI is in use after a reset
        steps += [
            ("switch", MODIFY, cfgr, used),
            ("switched", WAIT, cfgr, used << _SWITCHED_SHIFT),
        ]
    position = -1
    for what, kind, address, value in steps:
        places = [
            number
            for number, step in enumerate(subject.tables.boot)
            if (step.kind, step.address) == (kind, address)
            and (value is None or step.value == value)
            and (kind != WAIT or step.mask == (_SWITCHED_MASK if address == cfgr else value))
        ]
        if not places:
            yield f"no boot step for: {what}"
        elif places[0] < position:
            yield f"boot step {places[0]} ({what}) comes too early"
        else:
            position = places[0]


def _want_devices(subject: Subject, registers: _Registers) -> None:
    system, devices = subject.system, subject.chip.devices
    pins = [*system.kernel.pins, *(pin for d in system.domains for pin in d.pins)]
    names = {f"GPIO{pin.port}" for pin in pins}
    names |= {system.kernel.console} if system.kernel.console else set()
    names |= {clock.name for d in system.domains for clock in d.clock_names}
    for name in names:
        enable = devices[name].enable
        if enable is not None:
            registers.want(enable[0], 1 << enable[1], 1 << enable[1])
    for pin in pins:
        _want_pin(devices[f"GPIO{pin.port}"].base, pin, registers)


def _want_pin(base: int, pin: Pin, registers: _Registers) -> None:
    def put(register: str, width: int, place: int, value: int) -> None:
        mask = (1 << width) - 1
        registers.want(base + _GPIO[register], mask << width * place, value << width * place)

    put("MODER", 2, pin.number, _MODES.index(pin.mode))
    put("OTYPER", 1, pin.number, int(pin.output == "open-drain"))
    put("OSPEEDR", 2, pin.number, _SPEEDS.index(pin.speed))
    put("PUPDR", 2, pin.number, _PULLS.index(pin.pull))
    if pin.alternate is not None:
        put("AFRH" if pin.number > 7 else "AFRL", 4, pin.number % 8, pin.alternate)
