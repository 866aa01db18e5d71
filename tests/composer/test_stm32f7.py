"""STM32F767: clock rules, boot steps, and a system that is built, linked and verified for it.
It can't be run: QEMU has no such machine."""

from __future__ import annotations

import re
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from composer.chips.chip import Chip, load_chip
from composer.chips.family import family_of
from composer.description.model import Clocks, Place, Pll
from composer.verify.verify import verify
from tests.composer.systems import TINY, write
from tests.support.built import Built, build, once

HERE = Place("system.xml", 1, 1)
FASTEST = Clocks("HSE", 25_000_000, Pll(25, 432, 2, 9), 1, 4, 2, 7, HERE)
PWR_CR1, PWR_CSR1 = 0x40007000, 0x40007004
RCC_CR, RCC_PLLCFGR, RCC_CFGR, FLASH_ACR = 0x40023800, 0x40023804, 0x40023808, 0x40023C00
CHANGES = (
    ('chip="STM32F405RG" board="netduinoplus2"', 'chip="STM32F767IG"'),
    (
        'm="8" n="336" p="2" q="7" ahb="1" apb1="4" apb2="2" latency="5"',
        'hse="25MHz" m="25" n="432" p="2" q="9" apb1="4" apb2="2" latency="7"',
    ),
)


@pytest.fixture(scope="module")
def chip() -> Chip:
    return load_chip("STM32F767IG", HERE)


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Built:
    def make(room: Path) -> Built:
        described = write(room.with_suffix(".in"), *CHANGES, text=TINY)
        return build(described, room)

    return once(tmp_path_factory, "stm32f767", make)


def test_facts_that_the_reference_manual_has_too(chip: Chip) -> None:
    flash, ram = chip.bank("flash"), chip.bank("ram")
    assert (flash.base, flash.size) == (0x08000000, 1024 * 1024)
    assert (ram.base, ram.size) == (0x20000000, 512 * 1024)  # DTCM, SRAM1 and SRAM2
    assert chip.lines == 110
    assert (chip.interrupts["USART1"], chip.interrupts["USART6"]) == (37, 71)
    assert chip.devices["USART6"].enable == (0x40023844, 5)
    for master in ("DMA1", "DMA2", "DMA2D", "LTDC", "ETH", "USB_OTG_HS"):
        assert chip.devices[master].nobody.startswith("a bus master")
    assert chip.core.name == "cortex-m7"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, None),
        ({"pll": Pll(25, 434, 2, 9)}, "PLL factor n=434"),
        ({"pll": None, "latency": 0}, None),
        ({"apb1": 2}, "APB1 clock is 108 MHz"),
        ({"apb2": 1}, "APB2 clock is 216 MHz"),
        ({"latency": 6}, "flash latency 6 at 216 MHz"),
        ({"hse": 27_000_000}, "hse is 27 MHz"),
    ],
)
def test_clock_limits(chip: Chip, change: dict[str, int | Pll | None], problem: str | None) -> None:
    found = family_of(chip).clock_problem(replace(FASTEST, **change), chip)  # type: ignore[arg-type]
    assert (found and found[0]) == problem


def test_a_clock_tree_is_needed(chip: Chip) -> None:
    assert family_of(chip).clock_problem(None, chip) is not None


def test_over_drive_is_on_before_the_core_runs_from_the_pll(chip: Chip) -> None:
    steps = [(op.kind, op.address, op.value) for op in family_of(chip).clock_ops(FASTEST, chip)]
    order = [
        ("MODIFY", PWR_CR1, 3 << 14),
        ("WRITE", RCC_PLLCFGR, 25 | 432 << 6 | 9 << 24 | 1 << 22 | 2 << 28),
        ("WRITE", FLASH_ACR, 7 | 3 << 8),
        ("MODIFY", RCC_CR, 1 << 24),
        ("MODIFY", PWR_CR1, 1 << 16),
        ("WAIT", PWR_CSR1, 1 << 16),
        ("MODIFY", PWR_CR1, 1 << 17),
        ("WAIT", PWR_CSR1, 1 << 17),
        ("WAIT", RCC_CR, 1 << 25),
        ("MODIFY", RCC_CFGR, 2),
    ]
    places = [steps.index(step) for step in order]
    assert places == sorted(places)


def test_180_mhz_need_no_over_drive(chip: Chip) -> None:
    slower = replace(FASTEST, pll=Pll(25, 360, 2, 9), latency=5)
    assert PWR_CSR1 not in [op.address for op in family_of(chip).clock_ops(slower, chip)]


@pytest.mark.campaign
def test_a_system_is_built_and_verified(system: Built) -> None:
    assert verify(system.elf, system.description).ok
    header = (system.folder / "one" / "fvm_domain.h").read_text()
    assert "#define FVM_CLOCK_HZ 216000000u" in header
    assert re.search(r"^#define FVM_PWR_CR1 0x0*3c000u$", header, re.M | re.I)


@pytest.mark.campaign
def test_a_missing_over_drive_step_is_noticed(system: Built, tmp_path: Path) -> None:
    """The step that switches it on turned into one that changes nothing."""
    step = struct.pack("<III", 1, PWR_CR1, 1 << 16)
    image = bytearray(system.elf.read_bytes())
    place = image.find(step)
    assert place > 0
    struct.pack_into("<I", image, place + 12, 0)
    changed = tmp_path / "system.elf"
    changed.write_bytes(image)
    report = verify(changed, system.description, system.elf.with_suffix(".json"))
    boot = next(check for check in report.checks if check.id == "boot")
    assert any("no boot step for: over-drive" in text for text in boot.findings)
