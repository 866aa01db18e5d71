"""A VM that arranges to be switched to just behind one kernel tick, and to be in a long call at the
next one, pays for the time between them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.built import Built, once, with_other_kernel
from tests.support.counted import run

pytestmark = pytest.mark.campaign

COMPUTES, HIDES, BUSY = 0, 1, 1  # roles of hider.c, and of share.c
CONSOLES = {"first": 1, "second": 2, "third": 3}
UNTIL = 2800  # kernel ticks, two a millisecond; work is counted from 200 ms to 1200 ms
# Cycles before the two ticks; which of them hits depends on the ways of the kernel before it.
TIMES = [(before, 150) for before in (580, 540, 620, 500, 660)] + [(580, 110), (580, 190)]

HEIGHT = (
    "    uint32_t before = *count + PERIOD;\n    *count = SYST_CVR;\n"
    "    return (int32_t)(before - *count);\n",
    "    uint32_t now = SYST_CVR;\n    int32_t cycles = (int32_t)(*count - now);\n"
    "    *count = PERIOD - 1024u;\n"
    "    return cycles + (int32_t)(now - *count) + (cycles < 0 ? (int32_t)PERIOD : 0);\n",
)
AT_ONCE = (
    "arch/armv7m/entry.S",
    "    mrs r6, ipsr                /* to a VM: apart",
    "    b 1f                        /* to a VM",
)
"""A kernel to which the height of a count tells on which side of a tick it was made, and whose tick
switches to a VM by itself."""


def share(system: Built, folder: Path, role: int, before: tuple[int, int] = (0, 0)) -> float:
    """The part of the computing that the first of three VMs does."""
    plan = system.symbol("first", "plan")
    words = {plan: role, plan + 4: before[0], plan + 8: before[1]}
    words |= {system.symbol(name, "plan"): BUSY for name in ("second", "third")}
    found = run(system.patched(folder / "system.elf", words), CONSOLES, UNTIL)
    work = {name: found.values(name)["work"] for name in CONSOLES}
    return work["first"] / sum(work.values())


def test_no_time_between_ticks_is_hidden(
    system: Callable[[str], Built], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    hidden = system("hidden")
    changed = once(
        tmp_path_factory,
        "hidden by height",
        lambda room: with_other_kernel(hidden, room, "arch/armv7m/timer.c", HEIGHT, also=[AT_ONCE]),
    )
    hits = (it for it in TIMES if share(changed, tmp_path, HIDES, it) > 0.4)
    before = next(hits, None)
    assert before is not None, "the control doesn't hit: other times are needed"
    fair = share(hidden, tmp_path, COMPUTES)
    assert fair == pytest.approx(1 / 3, abs=0.02)
    assert share(hidden, tmp_path, HIDES, before) <= 1.03 * fair
