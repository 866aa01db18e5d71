"""STM32F4 registers as set-up code leaves them (RM0090 sections 7, 8 and 21): what a run starts
from, and pins, clocks and watchdog read back from what it wrote."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from composer.chips.chip import Chip
from composer.description.model import Clocks, Place, Pll
from composer.init.facts import ClockTree, PinUse, Places, shown
from porter.execution.survey import Silicon, Survey
from porter.execution.words import MASK, as_word

_CR, _PLLCFGR, _CFGR, _BDCR, _CSR = 0x00, 0x04, 0x08, 0x70, 0x74
_ENABLES = range(0x10, 0x74, 4)
_MODER, _OTYPER, _OSPEEDR, _PUPDR, _AFRL, _AFRH = 0x00, 0x04, 0x08, 0x0C, 0x20, 0x24
_KR, _PR, _RLR = 0x00, 0x04, 0x08
_AIRCR, _TICK_CTRL = 0xE000_ED0C, 0xE000_E010
_MODES = ("input", "output", "alternate", "analog")
_PULLS = ("none", "up", "down", "none")
_SPEEDS = ("low", "medium", "high", "very-high")
_DEBUG_PINS = {("A", 13), ("A", 14), ("A", 15), ("B", 3), ("B", 4)}
_START, _LSI_HZ = 0xCCCC, 32_000
_SYSTEM_CLOCK = ("HSI", "HSE", "PLL")
_CRYSTALS = tuple(mhz * 1_000_000 for mhz in (8, 25, 12, 16, 24, 20, 10, 6, 4, 26, 8))
_AHB = {8: 2, 9: 4, 10: 8, 11: 16, 12: 64, 13: 128, 14: 256, 15: 512}


def silicon(chip: Chip) -> Silicon:
    """The registers whose content matters, as they are after reset."""
    rcc = chip.devices["RCC"].base
    reset = {rcc + offset: 0 for offset in (*_ENABLES, _CFGR, _BDCR, _CSR)}
    reset |= {rcc + _CR: 0x83, rcc + _PLLCFGR: 0x2400_3010, rcc + 0x30: 0x0010_0000}
    reset |= {chip.devices["FLASH"].base: 0, _AIRCR: 0xFA05_0000, _TICK_CTRL: 0}
    watchdog = chip.devices["IWDG"].base
    reset |= {watchdog + _PR: 0, watchdog + _RLR: 0xFFF}
    for base in _ports(chip).values():
        reset |= {base + r: 0 for r in (_MODER, _OTYPER, _OSPEEDR, _PUPDR, _AFRL, _AFRH)}
    for letter, register, value in (
        ("A", _MODER, 0xA800_0000), ("A", _PUPDR, 0x6400_0000), ("A", _OSPEEDR, 0x0C00_0000),
        ("B", _MODER, 0x280), ("B", _PUPDR, 0x100), ("B", _OSPEEDR, 0xC0),
    ):  # fmt: skip
        reset[_ports(chip)[letter] + register] = value
    follows = {
        rcc + _CR: {1: 0, 17: 16, 25: 24, 27: 26, 29: 28},
        rcc + _CFGR: {2: 0, 3: 1},
        rcc + _BDCR: {1: 0},
        rcc + _CSR: {1: 0},
    }
    return Silicon(reset, follows, tuple(device.base for device in chip.devices.values()))


def _ports(chip: Chip) -> dict[str, int]:
    return {name[-1]: device.base for name, device in chip.devices.items() if device.kind == "gpio"}


def left_in(survey: Survey, address: int) -> int | None:
    """What a register holds at the end, if all of it is known."""
    word = as_word(survey.machine.state.registers.cells.get(address))
    return word.value if word is not None and word.known == MASK else None


def field_of(survey: Survey, address: int, shift: int, width: int) -> int | None:
    """A field of a register at the end, if it is known."""
    word = as_word(survey.machine.state.registers.cells.get(address))
    mask = ((1 << width) - 1) << shift
    return (word.value & mask) >> shift if word is not None and word.known & mask == mask else None


def written_at(survey: Survey, address: int, mask: int = MASK) -> Places:
    """The last line that wrote to these bits."""
    for write in reversed(survey.record.to(address)):
        if write.touched & mask:
            return (shown(write.where, survey.root),)
    return ()


def pins_of(survey: Survey, chip: Chip) -> Iterator[PinUse]:
    """Pins that the code sets up, by port and number; the package may not have them."""
    reset = silicon(chip).reset
    for port, base in sorted(_ports(chip).items()):
        for number in range(16):
            if _is_set_up(survey, reset, port, base, number):
                yield _pin(survey, port, base, number)


def _is_set_up(
    survey: Survey, reset: Mapping[int, int], port: str, base: int, number: int
) -> bool:  # fmt: skip
    """A pin whose mode was written, and not only with the rest of the port as it was."""
    address, mask = base + _MODER, 3 << 2 * number
    writes = [write for write in survey.record.to(address) if write.touched & mask]
    chosen = any(write.touched != MASK for write in writes)
    before = (reset[address] & mask) >> 2 * number
    after = field_of(survey, address, 2 * number, 2)
    if (port, number) in _DEBUG_PINS and after == before:
        return False
    return bool(writes) and (chosen or after != before)


def _pin(survey: Survey, port: str, base: int, number: int) -> PinUse:
    def value(register: int, width: int) -> int | None:
        return field_of(survey, base + register, width * number, width)

    mode = value(_MODER, 2)
    half = _AFRH if number > 7 else _AFRL
    alternate = field_of(survey, base + half, 4 * (number % 8), 4) if mode == 2 else None
    return PinUse(
        port,
        number,
        None if mode is None else _MODES[mode],
        alternate,
        _PULLS[value(_PUPDR, 2) or 0],
        _SPEEDS[value(_OSPEEDR, 2) or 0],
        "open-drain" if value(_OTYPER, 1) else "push-pull",
        written_at(survey, base + _MODER, 3 << 2 * number),
    )


def clock_tree(survey: Survey, chip: Chip) -> ClockTree | None:
    """The clock tree that the code sets up; None if what it writes isn't known."""
    rcc, flash = chip.devices["RCC"].base, chip.devices["FLASH"].base
    system = field_of(survey, rcc + _CFGR, 0, 2)
    fields = ((4, 4), (10, 3), (13, 3))
    buses = [field_of(survey, rcc + _CFGR, shift, width) for shift, width in fields]
    pll, latency = left_in(survey, rcc + _PLLCFGR), field_of(survey, flash, 0, 3)
    if system is None or system > 2 or None in buses or latency is None:
        return None
    if system == 0 and not survey.has_main:
        return None  # nobody knows what would run
    ahb, apb1, apb2 = (b or 0 for b in buses)
    dividers = (_AHB.get(ahb, 1), _apb(apb1), _apb(apb2))
    places = (*written_at(survey, rcc + _PLLCFGR), *written_at(survey, rcc + _CFGR, 3))
    source, factors = _SYSTEM_CLOCK[system], None
    if source == "PLL":
        if pll is None:
            return None
        source = "HSE" if pll >> 22 & 1 else "HSI"
        factors = Pll(pll & 63, pll >> 6 & 511, 2 * ((pll >> 16 & 3) + 1), pll >> 24 & 15)
    hse, guessed = _crystal(survey, chip, factors, dividers[0]) if source == "HSE" else (0, "")
    clocks = Clocks(source, hse, factors, *dividers, latency, Place(""))
    return ClockTree(clocks, places, guessed)


def _apb(field: int) -> int:
    return 2 << (field - 4) if field >= 4 else 1


def _crystal(survey: Survey, chip: Chip, pll: Pll | None, ahb: int) -> tuple[int, str]:
    """HSE in hertz: from the core clock that the program states, or its HSE_VALUE."""
    m, n, p = (pll.m, pll.n, pll.p) if pll else (1, 1, 1)
    named = survey.program.define("HSE_VALUE")
    core = core_clock(survey)
    meant = core * ahb * p * m // n if core and n else None
    low, high = chip.clock_limits["hse"]
    if core == int(chip.clock_limits["hsi"]) or (meant and not low <= meant <= high):
        meant = None  # what it is before the PLL is on
    if named and meant and named != meant:
        return named, (
            f"HSE_VALUE says {named} Hz, SystemCoreClock would need {meant} Hz: which crystal"
            " is it?"
        )
    suits = [it for it in _CRYSTALS if _suits(it, pll, chip)]
    if named and not meant and suits and not _suits(named, pll, chip):
        return suits[0], (
            f"HSE_VALUE says {named} Hz, and the PLL that is set up would leave the chip's range"
            f" with it; {suits[0] / 1e6:g} MHz is a guess: which crystal is it?"
        )
    if named or meant:
        return named or meant or 0, ""
    crystal = (suits or _CRYSTALS)[0]
    return crystal, f"no source says what the crystal's rate is; {crystal / 1e6:g} MHz is a guess"


def _suits(crystal: int, pll: Pll | None, chip: Chip) -> bool:
    """Whether a PLL keeps to the chip's limits with it."""
    if pll is None:
        return True
    limits = chip.clock_limits
    pll_input = crystal / max(pll.m, 1)
    low, high = limits["pll_input"]
    return bool(low <= pll_input <= high and pll_input * pll.n <= limits["vco"][1])


def core_clock(survey: Survey) -> int | None:
    """SystemCoreClock as its initialiser says."""
    variable = survey.program.variables.get("SystemCoreClock")
    if variable is None or variable.value is None:
        return None
    unit = survey.program.units[variable.unit]
    return unit.evaluator.number(variable.value)


def watchdog(survey: Survey, chip: Chip) -> tuple[int | None, Places]:
    """Microseconds of the independent watchdog, None if it is never started; and where."""
    base = chip.devices["IWDG"].base
    started = [write for write in survey.record.to(base + _KR) if write.value == _START]
    if not started:
        return None, ()
    prescaler, reload = left_in(survey, base + _PR), left_in(survey, base + _RLR)
    place = shown(started[0].where, survey.root)
    if prescaler is None or reload is None:
        return 0, (place,)
    counts = (reload & 0xFFF) + 1
    return counts * (4 << min(prescaler & 7, 6)) * 1_000_000 // _LSI_HZ, (place,)
