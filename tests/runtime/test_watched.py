"""A loop in a native process takes the processor from all that is less urgent, VMs included; what
the documents say to do about it helps. And what a reset of the chip leaves in shared memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.built import Built, described_otherwise
from tests.support.counted import Transcript, run

UNTIL = 750  # kernel ticks
CONSOLES = {"watcher": 1}


@pytest.fixture(scope="module")
def watched(system: Callable[[str], Built]) -> Built:
    return system("watched")


@pytest.fixture(scope="module")
def transcript(watched: Built) -> Transcript:
    return run(watched.elf, CONSOLES, UNTIL)


def test_a_more_urgent_process_ends_a_loop(transcript: Transcript) -> None:
    assert transcript.reached
    said = transcript.lines("watcher")
    assert said.count("stop=0") > 5
    assert said.count("decided=0") == said.count("stop=0"), "a stop without a fault has no record"
    assert transcript.stats("worker")[-1].restarts >= said.count("stop=0") - 1
    assert transcript.stats("watcher")[-1].restarts == 0


def test_the_vm_gets_its_ticks_after_each_loop(transcript: Transcript) -> None:
    last = transcript.stats("healthy")[-1]
    assert (last.dropped, last.restarts) == (0, 0)
    assert last.ticks > last.tick - 60


@pytest.mark.campaign
def test_without_it_the_loop_stops_the_vm_and_the_log(watched: Built, tmp_path: Path) -> None:
    """Control."""
    blind = described_otherwise(watched, tmp_path / "blind", "<define>LOOKS</define>", "")
    transcript = run(blind.elf, CONSOLES, UNTIL)
    assert transcript.lines("watcher") == ["first_start=1", "kept=1"]
    assert not transcript.reached
    assert all(stat.tick < 100 for stat in transcript.stats("healthy"))


def test_a_restart_beside_who_decides_about_faults_is_one(watched: Built, tmp_path: Path) -> None:
    """He isn't asked about a stop that is the beginning of a restart: he would restart, too."""
    described = described_otherwise(
        watched, tmp_path / "restarts", "<define>LOOKS</define>", "<define>RESTARTS</define>"
    )
    transcript = run(described.elf, CONSOLES, UNTIL)
    said = transcript.lines("watcher")
    assert said.count("restart=0") > 5 and not any(line.startswith("decided") for line in said)
    reported = transcript.stats("worker")[-1].restarts  # up to three periods before the end
    assert said.count("restart=0") - 4 < reported <= said.count("restart=0")


def test_a_reset_of_the_chip_leaves_shared_memory_as_it_was(transcript: Transcript) -> None:
    assert transcript.lines("watcher")[:2] == ["first_start=1", "kept=1"]
