"""What one process begins and leaves, or left behind, is no other one's problem."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.runtime.observed import about
from tests.support.built import Built
from tests.support.counted import run

OK = 0
UNTIL = 2000  # kernel ticks


@pytest.fixture(scope="module")
def said(system: Callable[[str], Built]) -> dict[str, int]:
    found = run(system("abandoned").elf, {"judge": 1, "maker": 2}, UNTIL)
    return found.values("judge") | found.values("maker")


def test_a_thread_is_made_of_nothing_that_lay_in_its_memory(said: dict[str, int]) -> None:
    reuse = about(said, "reuse")
    assert reuse["echoed"] == reuse["threads"] > 0


def test_a_stop_that_nobody_goes_on_with_leaves_the_port_to_others(said: dict[str, int]) -> None:
    half = about(said, "half")
    assert half["served"] == half["rounds"] > 0


def test_who_is_stopped_does_not_run_in_between_to_try_again(said: dict[str, int]) -> None:
    assert about(said, "eager") == {"stop": OK, "ran": 1, "stays": 1}


def test_a_process_stops_although_a_more_urgent_client_tries_again(said: dict[str, int]) -> None:
    assert about(said, "server") == {"stop": OK, "restart": OK, "serves": OK}
    assert said["done"] == 1
