"""The vendors' data, and parts by their names."""

from __future__ import annotations

from importlib.resources import files

import pytest

from scanner.arch.chips import chip
from scanner.arch.profiles import chip_families, profile
from scanner.arch.registry import ARCHITECTURES
from scanner.report.errors import MissingError

PROFILES = sorted(
    f.name.removesuffix(".json") for f in files("scanner.vendors").iterdir() if ".json" in f.name
)


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_is_sound(name: str) -> None:
    own = profile(name)
    assert own.core
    for number, register in own.user_csrs.items():
        assert number >> 8 & 3 == 0, "user mode doesn't reach this number"
        assert register.severity in ("silent", "policy", "traps")
        assert register.effect[0].islower()
    for block in own.blocks:
        for register_name, offset, count, size in block.registers:
            assert offset + count * size <= block.size, register_name
    assert all(number >> 8 & 3 for number in own.other_csrs)


def test_every_family_has_an_architecture() -> None:
    families = chip_families()
    assert {arch for arch, _, _ in families.values()} <= set(ARCHITECTURES)
    assert all(family == family.lower() for family in families)


@pytest.mark.parametrize(
    ("name", "arch", "own"),
    [
        ("CH32V307VCT6", "rv32imafc", "qingke-v4"),
        ("ch32v203", "rv32imac", "qingke-v4"),
        ("CH32V103R8T6", "rv32imac", "qingke-v3a"),
        ("GD32VF103C8T6", "rv32imac", "gd32vf103"),
        ("esp32c3", "rv32imac", "esp32-c3"),
        ("ESP32-C3-WROOM-02", "rv32imac", "esp32-c3"),
        ("HPM6750", "rv32imafc", "andes"),
        ("FE310-G002", "rv32imac", "sifive"),
        ("qemu-virt", "rv32imafc", "qemu-virt"),
        ("gd32vw553", "rv32imafc", "nuclei"),
        ("RP2350-RISCV", "rv32imac", "hazard3"),
        ("RP2350A", "armv8m.main", None),
        ("STM32F405RG", "armv7em", None),
        ("GD32F103", "armv7m", None),
        ("CH32F103", "armv7m", None),
        ("mps2-an385", "armv7m", None),
        ("netduinoplus2", "armv7em", None),
    ],
)
def test_parts_by_the_beginning_of_their_names(name: str, arch: str, own: str | None) -> None:
    found = chip(name)
    assert (found.arch, found.profile, found.refused) == (arch, own, None)


def test_a_chip_that_nobody_knows() -> None:
    with pytest.raises(MissingError, match="name its core by --arch"):
        chip("xyz123")
