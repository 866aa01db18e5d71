"""What the hypervisor really logs becomes the sentence that a user is promised."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from composer.simulate.running import Logged, Output, Running, start
from tests.support.built import Built, build, once

FOLDER = Path(__file__).parent / "misbehaving"
SOURCE = (FOLDER / "culprit.c").read_text().splitlines()
SECONDS = 120.0

CRIMES = [
    ("w", "write to 0x20000000 [kernel RAM]", "write_cmd", r"= 1;"),
    ("r", "read of 0xe000ed00 [system control space]", "read_cmd", r"\(SYSTEM\)|\)SYSTEM"),
    ("j", "jump to 0x20000000 [kernel RAM]", "jump_cmd", r"FOREIGN \+ 1u"),
    ("x", "reset request", "reset_cmd", r"hyp_reboot"),
    ("h", "watchdog after 300 ms", "hang_cmd", r"for \(;;\)"),
    ("u", "undefined instruction", "undefined_cmd", r"udf"),
    ("f", "use of the FPU without a grant", "fpu_cmd", r"inst\.w"),
]


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return once(tmp_path_factory, "misbehaving", lambda room: build(FOLDER / "system.xml", room))


@pytest.fixture
def running(system: Built) -> Iterator[Running]:
    with start(system.folder, [], []) as running:
        yield running


def sentence(running: Running, letter: str) -> str:
    """The kernel's line about the crime of that letter."""
    deadline = time.monotonic() + SECONDS
    told = 0.0
    while time.monotonic() < deadline:
        if told and time.monotonic() - told > 3:  # typed before the firmware listened
            told = time.monotonic()
            running.send("culprit", letter.encode())
        for event in running.poll(0.1):
            if isinstance(event, Output) and not told:
                told = time.monotonic()
                running.send("culprit", letter.encode())
            if isinstance(event, Logged) and event.record.kind == "fault":
                return event.sentence
    raise AssertionError(f"nothing was logged; told: {told}")


@pytest.mark.parametrize(("letter", "crime", "function", "line"), CRIMES)
def test_a_crime_and_its_place(
    running: Running, letter: str, crime: str, function: str, line: str
) -> None:
    text = sentence(running, letter)
    match = re.fullmatch(
        rf"culprit rebooted \(1\): {re.escape(crime)}, {function} culprit\.c:(\d+)", text
    )
    assert match, text
    place = SOURCE[int(match[1]) - 1]
    assert re.search(line, place), place


def test_an_overflow_of_the_stack_says_where_the_stack_was(running: Running, system: Built) -> None:
    text = sentence(running, "s")
    match = re.match(r"culprit rebooted \(1\): .* (0x[0-9a-f]{8}) \[", text)
    assert match, text
    own = system.memory("culprit", "ram")
    assert own.start - 256 <= int(match[1], 16) < own.start
