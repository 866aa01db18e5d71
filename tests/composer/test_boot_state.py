"""What the composer says the boot table leaves in shared registers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.system.road import fvmkit

DESCRIPTION = """\
<system name="state" chip="STM32F405RG">
  <kernel console="USART6"/>
  {clocks}
  <vm name="node" flash="8K" ram="4K">
    <project path="node"><source>main.c</source></project>
    <clock name="USART2"/>
    <pin port="C" pin="13" mode="input"/>
  </vm>
</system>
"""
CLOCKS = '<clocks source="{}" m="{}" n="336" p="2" q="7" apb1="4" apb2="2" latency="5"/>'


def composed(folder: Path, clocks: str) -> tuple[dict[str, int], str]:
    """The known values by name, and the header that a machine includes."""
    (folder / "node").mkdir()
    (folder / "node" / "main.c").write_text("int main(void) { return 0; }\n")
    (folder / "system.xml").write_text(DESCRIPTION.format(clocks=clocks))
    said = fvmkit("compose", "system.xml", "--out", "out", cwd=folder)
    assert said.status == 0, said.all
    record = json.loads((folder / "out" / "node.domain.json").read_text())
    values = {item["name"]: item["value"] for item in record["registers"]}
    return values, (folder / "out" / "node" / "fvm_domain.h").read_text()


@pytest.mark.parametrize(
    ("clocks", "cr", "pllcfgr", "cfgr", "acr"),
    [
        (CLOCKS.format("HSE", 8), 0x03030083, 0x07405408, 0x940A, 0x705),
        (CLOCKS.format("HSI", 16), 0x03000083, 0x07005410, 0x940A, 0x705),
        ('<clocks source="HSI" latency="0"/>', 0x83, 0x24003010, 0, 0x700),
        ('<clocks source="HSE" apb1="2" latency="0"/>', 0x30083, 0x24003010, 0x1005, 0x700),
    ],
)
def test_clock_registers(
    tmp_path: Path, clocks: str, cr: int, pllcfgr: int, cfgr: int, acr: int
) -> None:
    values, _ = composed(tmp_path, clocks)
    # RM0090: CR 7.3.1, PLLCFGR 7.3.2, CFGR 7.3.3 (SWS repeats SW), FLASH_ACR 3.9.1
    assert values["FVM_RCC_CR"] == cr
    assert values["FVM_RCC_PLLCFGR"] == pllcfgr
    assert values["FVM_RCC_CFGR"] == cfgr
    assert values["FVM_FLASH_ACR"] == acr


def test_clocks_of_blocks_and_ports(tmp_path: Path) -> None:
    values, _ = composed(tmp_path, CLOCKS.format("HSE", 8))
    assert values["FVM_RCC_APB1ENR"] == 1 << 17 | 1 << 28, "USART2, and PWR for the voltage"
    assert values["FVM_RCC_APB2ENR"] == 1 << 5, "USART6, the log's"
    assert values["FVM_RCC_AHB1ENR"] & 0x1FF == 1 << 2, "port C"


def test_the_header_says_the_same_as_the_record(tmp_path: Path) -> None:
    values, header = composed(tmp_path, CLOCKS.format("HSE", 8))
    defined = re.findall(r"#define (FVM_(?:RCC|FLASH|PWR)_\w+) 0x([0-9A-F]{8})u", header)
    assert {name: int(number, 16) for name, number in defined} == values


def test_what_a_reset_does_not_settle_is_not_said(tmp_path: Path) -> None:
    _, header = composed(tmp_path, CLOCKS.format("HSE", 8))
    assert "RCC_CSR" not in header and "RCC_BDCR" not in header
    record = json.loads((tmp_path / "out" / "node.domain.json").read_text())
    (clock_control,) = (r for r in record["registers"] if r["name"] == "FVM_RCC_CR")
    assert clock_control["known"] & 0xFF00 == 0, "HSI's calibration"
    assert record["own_pins"] == [{"port": "C", "pin": 13}] and record["pins"] == []
