"""The first thread starts without privilege, whatever comes before it."""

from __future__ import annotations

import pytest

from tests.faults.crimes import CRIMES
from tests.faults.trial import commit, judge
from tests.support.built import Built, once, with_other_kernel

pytestmark = pytest.mark.campaign

TICK_PENDING = "(*(volatile uint32_t *)0xE000ED04u & (1u << 26)) != 0"  # ICSR.PENDSTSET
START = "    cpu_arch_start();\n"
ATTEMPTS = ("S07 writes the kernel's RAM", "S14 moves the vector table")


@pytest.fixture(scope="module")
def late(campaign: Built, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A kernel that boots so slowly that its first tick is due when it starts the first thread."""
    wait = f"    while (!({TICK_PENDING})) {{\n    }}\n"
    return once(
        tmp_path_factory,
        "campaign that boots slowly",
        lambda room: with_other_kernel(campaign, room, "kernel/boot.c", (START, wait + START)),
    )


@pytest.mark.parametrize("name", ATTEMPTS)
def test_a_tick_before_the_first_thread_changes_nothing(late: Built, name: str) -> None:
    crime = next(crime for crime in CRIMES if crime.name == name)
    assert judge(late, crime, commit(late, crime)) == []
