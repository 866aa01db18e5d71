"""The control experiment: without memory protection the same write hurts the other VM."""

from __future__ import annotations

import pytest

from tests.support.built import Built
from tests.support.example import MOTOR, SENSOR
from tests.system.live import Live
from tests.system.road import COUNTED, Road
from tests.system.test_containment import MEMORY, OTHER

pytestmark = pytest.mark.campaign

GARBAGE = {MOTOR: "speed 3735928559", SENSOR: "gain 3735928559"}  # 0xDEADBEEF


@pytest.mark.parametrize("culprit", OTHER)
def test_a_wild_write_without_protection(unprotected: Built, culprit: str) -> None:
    witness = OTHER[culprit]
    memory = MEMORY[witness]
    with Live(unprotected, COUNTED) as live:
        assert "mpu=off" in live.log.wait("its start", lambda r: r.kind == "boot").text
        assert live.ask(witness, memory.tell) == [memory.answer, "ok"]
        address = unprotected.symbol(witness, memory.variable)
        assert live.ask(culprit, f"crash {address:08x}") == ["written", "ok"]
        assert live.ask(witness, memory.ask) == [GARBAGE[witness], "ok"]
        assert live.faults() == []


def test_the_images_differ_in_the_kernel_only(road: Road, unprotected: Built) -> None:
    """So it is the protection that makes the difference, nothing in the VMs."""
    images = [
        (built.folder / "image" / "system.bin").read_bytes() for built in (road.built, unprotected)
    ]
    kernel = road.built.memory("kernel", "code")
    differ = [a != b for a, b in zip(*images, strict=True)]
    assert any(differ)
    assert not any(differ[len(kernel) :])
