"""A switch handler that has no task to go on with lets USR wait: it looks again when a handler has
run, not before, and the task finds its registers as it left them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.built import Built
from tests.support.counted import Transcript, run

CONSOLES = {"soft": 1, "hard": 2, "own": 3}
ROUNDS = 200


@pytest.fixture(scope="module")
def transcript(system: Callable[[str], Built]) -> Transcript:
    return run(system("waiting").elf, CONSOLES, 1000)


@pytest.mark.parametrize("vm", CONSOLES)
def test_a_task_wakes_with_its_registers(transcript: Transcript, vm: str) -> None:
    assert transcript.values(vm)["kept"] == ROUNDS


@pytest.mark.parametrize("vm", CONSOLES)
def test_the_handler_looks_once_a_tick(transcript: Transcript, vm: str) -> None:
    """Each round begins with a look of its own, and what comes before the first wait may cost one
    more."""
    values = transcript.values(vm)
    assert 3 * (ROUNDS - 1) <= values["ticks"] <= 3 * ROUNDS + 1
    assert values["looks"] <= values["ticks"] + 2 * ROUNDS
