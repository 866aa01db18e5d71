"""Each planted mistake is noticed: the random steps can fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from composer.sources import runtime_folder
from tests.host.compile import compile_changed
from tests.host.driver import Driver, KernelDied
from tests.host.mistakes import MISTAKES, Mistake
from tests.host.sequences import Mismatch, play, random_steps

MOST_STEPS = 60_000
RUN = 1000


def is_noticed(program: Path, room: Path) -> bool:
    driver = Driver(program, room)
    try:
        done = seed = 0
        while done < MOST_STEPS:
            done += play(driver, random_steps(seed, RUN))
            seed += 1
    except (Mismatch, KernelDied):
        return True
    finally:
        driver.close()
    return False


def test_the_kernel_has_the_place_of_each() -> None:
    lost = [it for it in MISTAKES if (runtime_folder() / it.file).read_text().count(it.old) != 1]
    assert lost == [], "the kernel changed: plant these anew"


@pytest.mark.campaign(12)
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_it_is_noticed(program: Path, mistake: Mistake, tmp_path: Path) -> None:
    text = (runtime_folder() / mistake.file).read_text()
    changed = compile_changed(
        program.parent, tmp_path, mistake.file, text.replace(mistake.old, mistake.new)
    )
    assert is_noticed(changed, tmp_path)
