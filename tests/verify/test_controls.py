"""Good images are accepted, in every format, whatever system they hold."""

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


# `rights` does on purpose what no start-up may do: its own test is below.
OTHERS = sorted(file for file in SYSTEMS.glob("*.xml") if file.stem != "rights")


def test_a_system_with_preempted_tasks_is_accepted(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    assert complaints(once(tmp_path_factory, "campaign", make_campaign)) == []


@pytest.mark.parametrize("description", OTHERS, ids=lambda path: path.stem)
def test_other_systems_are_accepted(system: Callable[[Path], Built], description: Path) -> None:
    assert complaints(system(description)) == []


def test_a_vm_that_tries_its_rights_before_the_lock_is_rejected(
    system: Callable[[Path], Built],
) -> None:
    found = complaints(system(SYSTEMS / "rights.xml"))
    assert found
    assert all(text.startswith("lockdown: 'owner': ") for text in found), found
