"""Random calls, interrupts, ticks, faults, restarts: the real kernel does what the model says."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.host.driver import Driver
from tests.host.sequences import Step, play, random_steps

# `make verify` sets more.
STEPS = int(os.environ.get("FVM_HOST_STEPS", "10000"))
RUN = 1000

_word = st.integers(0, 0xFFFF)
_steps = st.lists(st.tuples(_word, _word, _word, st.integers(0, 0xFFFFFFFF)), max_size=60)


@pytest.fixture
def driver(kernel: Driver) -> Iterator[Driver]:
    yield kernel
    kernel.power_off()


def test_random_steps(driver: Driver) -> None:
    done, seed = 0, 0
    while done < STEPS:
        done += play(driver, random_steps(seed, RUN))
        seed += 1


@settings(
    max_examples=max(30, STEPS // 500),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(_steps)
def test_steps_that_shrink(driver: Driver, steps: list[Step]) -> None:
    play(driver, steps)
