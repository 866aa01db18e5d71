"""Chips that are no STM32 have other blocks where an STM32 has clocks, power and pins."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.porter.helpers import DOMAIN, escalations, port_files

POWER = 0x40007000  # of an STM32; a UART of an MPS2 board
SOURCE = f"void f(void) {{ *(volatile unsigned *){POWER:#x} = 1; }}\n".encode()


@pytest.mark.parametrize(("chip", "escalated"), [("STM32F405RG", 1), ("MPS2-AN386", 0)])
def test_the_chip_says_whose_an_address_is(tmp_path: Path, chip: str, escalated: int) -> None:
    result = port_files(tmp_path, {"main.c": SOURCE}, replace(DOMAIN, chip=chip))
    assert len(escalations(result)) == escalated
