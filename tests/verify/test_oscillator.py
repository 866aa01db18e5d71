"""A chip that runs from an oscillator alone: built, verified, and told from another at its rate."""

from __future__ import annotations

from pathlib import Path

import pytest

from composer.verify.verify import verify
from tests.composer.systems import write
from tests.support.built import Built, build, once

pytestmark = pytest.mark.campaign

PLL = 'm="8" n="336" p="2" q="7" ahb="1" apb1="4" apb2="2" latency="5"'
CLOCKS = {
    "HSI": 'source="HSI" latency="0"',
    "HSE": 'source="HSE" hse="16MHz" latency="0"',
    "PLL": 'source="HSI" m="16" n="128" p="8" q="4" latency="0"',
}


@pytest.mark.parametrize("source", ["HSI", "HSE"])
def test_verify_knows_what_the_core_runs_from(
    source: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    def make(room: Path) -> Built:
        return build(write(room.with_suffix(".in"), (PLL, CLOCKS[source])), room)

    system = once(tmp_path_factory, f"oscillator {source}", make)
    assert "#define FVM_CLOCK_HZ 16000000u" in (system.folder / "one/fvm_domain.h").read_text()
    for other, clocks in CLOCKS.items():  # 16 MHz all of them
        described = tmp_path / f"{other}.xml"
        described.write_text(system.description.read_text().replace(CLOCKS[source], clocks))
        found = verify(system.elf, described)
        failed = {check.id for check in found.checks if check.findings}
        assert failed == (set() if other == source else {"boot", "description"}), other
