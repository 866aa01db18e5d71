"""Good images are accepted, in every format, whatever system they hold.

In `make test` a sixth of the systems, in `make campaign` others.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from composer.verify.verify import verify
from tests.faults.conftest import make as make_campaign
from tests.runtime.conftest import SYSTEMS
from tests.support.built import Built, build, once


def complaints(built: Built, suffix: str = ".elf") -> list[str]:
    image = built.elf.with_suffix(suffix)
    report = verify(image, built.description)
    return [f"{c.id}: {f}" for c in report.checks for f in c.findings] + list(report.notes)


@pytest.mark.parametrize("suffix", [".elf", ".hex", ".bin"])
def test_the_example_is_accepted(example: Built, suffix: str) -> None:
    assert complaints(example, suffix) == []


@pytest.fixture(scope="session")
def system(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Built]:
    def make(description: Path) -> Built:
        return once(
            tmp_path_factory, description.stem, lambda room: build(description, room)
        )  # shared with the runtime's tests

    return make


# These call on purpose, before the lock, what no start-up may: their own test is below.
EARLY = {"rights": "owner", "decisions": "asking"}  # system: its VM that does
OTHERS = sorted(file for file in SYSTEMS.glob("*.xml") if file.stem not in EARLY)
CHOSEN = OTHERS[::6]
REST = [pytest.param(file, marks=pytest.mark.campaign) for file in OTHERS if file not in CHOSEN]


@pytest.mark.campaign
def test_a_system_with_preempted_tasks_is_accepted(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    assert complaints(once(tmp_path_factory, "campaign", make_campaign)) == []


@pytest.mark.parametrize("description", [*CHOSEN, *REST], ids=lambda path: path.stem)
def test_other_systems_are_accepted(system: Callable[[Path], Built], description: Path) -> None:
    assert complaints(system(description)) == []


@pytest.mark.parametrize("name", EARLY)
def test_a_vm_that_calls_before_the_lock_is_rejected(
    system: Callable[[Path], Built], name: str
) -> None:
    found = complaints(system(SYSTEMS / f"{name}.xml"))
    assert found
    assert all(text.startswith(f"lockdown: '{EARLY[name]}': ") for text in found), found
