"""The last process that sleeps, while other lines wait than do for what runs next: the short way of
its wait ends in the deferred work, and its registers are still its own. So are the hypervisor's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.built import Built, once, with_other_kernel
from tests.support.counted import Transcript, run

pytestmark = pytest.mark.campaign

CONSOLES = {"sleeper": 4}
UNTIL = 1000  # kernel ticks
FAULT, TICKS = range(2)  # words of a VM's plan
PLANS = {"both sleep": (0, 1), "the urgent one faults twice": (20, 1)}


def watch(system: Built, folder: Path, plan: tuple[int, int]) -> Transcript:
    base = system.symbol("high", "plan")
    words = {base: plan[FAULT], base + 4: plan[TICKS]}
    return run(system.patched(folder / "system.elf", words), CONSOLES, UNTIL)


def boots(transcript: Transcript) -> int:
    return sum(record.kind == "boot" for record in transcript.log)


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_no_register_changes_and_the_chip_keeps_running(
    system: Callable[[str], Built], tmp_path: Path, plan: tuple[int, int]
) -> None:
    transcript = watch(system("asleep"), tmp_path, plan)
    assert transcript.reached and boots(transcript) == 1
    assert transcript.values("sleeper") == {"rounds": 100, "changed": 0}
    for bystander in ("sleeper", "low", "hypervisor"):
        assert transcript.stats(bystander)[-1].restarts == 0


def test_a_way_that_reloads_too_few_is_noticed(
    system: Callable[[str], Built], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Control: the deferred work saves what it finds over the good registers."""
    changed = once(
        tmp_path_factory,
        "asleep with registers lost",
        lambda room: with_other_kernel(
            system("asleep"),
            room,
            "arch/armv7m/entry.S",
            ("    ldmia r0, {r4-r11}          /* whoever", "    ldmia r0, {r4-r7} /* whoever"),
        ),
    )
    transcript = watch(changed, tmp_path, PLANS["both sleep"])
    values = transcript.values("sleeper") if transcript.reached else {}
    assert boots(transcript) > 1 or values.get("changed", 0) > 0
