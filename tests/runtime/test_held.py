"""A VM that only its own line wakes, beside a more urgent one that never sleeps: the line waits for
what is left of the other's budget and for the next, not for ever."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.built import Built, once, with_other_kernel
from tests.support.counted import Transcript, run

pytestmark = pytest.mark.campaign

SLEEPS, COMPUTES, REBOOTS, FAULTS = range(4)
UNTIL = 1000  # kernel ticks
PERIOD = 4  # kernel ticks from a service of the line, or so, till it is raised again
WAIT = 10  # kernel ticks: two budgets
TOLD = 10  # services that one report stands for
ROLES = {"sleeps": SLEEPS, "computes": COMPUTES, "restarts": REBOOTS, "faults": FAULTS}


def beside(system: Built, folder: Path, role: int) -> Transcript:
    words = {system.symbol("urgent", "plan"): role}
    return run(system.patched(folder / "system.elf", words), {"good": 1}, UNTIL)


def rings(transcript: Transcript) -> int:
    return transcript.values("good").get("rings", 0)


@pytest.mark.parametrize("role", ROLES.values(), ids=ROLES)
def test_a_line_that_waits_for_an_urgent_vm_is_served(
    system: Callable[[str], Built], tmp_path: Path, role: int
) -> None:
    transcript = beside(system("held"), tmp_path, role)
    assert transcript.reached
    assert transcript.stats("good")[-1].restarts == 0, "its watchdog is fed where it is served"
    longest = PERIOD if role == SLEEPS else PERIOD + WAIT
    assert rings(transcript) >= UNTIL / longest - TOLD


def test_control_a_turn_that_passes_without_them(
    system: Callable[[str], Built], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    deaf = once(
        tmp_path_factory,
        "held for ever",
        lambda room: with_other_kernel(
            system("held"), room, "kernel/scheduler.c",
            ("if (interrupt_hold(process_thread[0])) {", "if (false) {"),
        ),
    )  # fmt: skip
    transcript = beside(deaf, tmp_path, COMPUTES)
    assert rings(transcript) == 0
    assert transcript.stats("good")[-1].restarts > 0
