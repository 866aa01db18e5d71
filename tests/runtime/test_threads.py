"""Threads and functions of the kernel by capability: by those who may, and by nobody else."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.runtime.observed import about
from tests.support.built import Built
from tests.support.counted import Transcript, run

OK, MORE, E_CAPABILITY, E_ARGUMENT, E_BUSY = 0, 1, -2, -3, -6


@pytest.fixture(scope="module")
def transcript(system: Callable[[str], Built]) -> Transcript:
    return run(system("threads").elf, {"boss": 1}, 1000)


@pytest.fixture(scope="module")
def said(transcript: Transcript) -> dict[str, int]:
    values = transcript.values("boss")
    assert values["done"] == 1
    return values


def test_a_held_thread_runs_when_it_is_started_and_anew_each_time(said: dict[str, int]) -> None:
    assert about(said, "start") == {
        "held": 0,
        "status": OK,
        "twice": E_BUSY,
        "ran_and_ended": 11,
        "again": OK,
        "works": 1,
    }


def test_a_stopped_thread_stands_and_its_signal_is_free(said: dict[str, int]) -> None:
    assert about(said, "stop") == {
        "step": MORE,
        "start_after_a_step": OK,  # whoever may stop it can't leave it between stopped and not
        "status": OK,
        "still_works": 0,
        "twice": OK,
        "signal_is_free": 1,
    }


def test_wild_numbers_missing_rights_and_bad_priorities_change_nothing(
    said: dict[str, int],
) -> None:
    assert about(said, "refused") == {
        "others": 0,
        "above_ceiling": E_ARGUMENT,
        "idle": E_ARGUMENT,
        "wild": E_ARGUMENT,
        "taken": E_BUSY,
        "twice_one": E_ARGUMENT,
        "one_place": E_ARGUMENT,
        "second_above": E_ARGUMENT,
        "second_wild": E_CAPABILITY,
    }


def test_two_threads_change_places_at_once(said: dict[str, int]) -> None:
    assert about(said, "rank") == {
        "second_runs": 1,
        "busy_runs": 0,
        "swap": OK,
        "second_runs_then": 0,
        "busy_runs_then": 1,
        "one": OK,
        "second_runs_again": 1,
        "busy_stops": OK,
        "one_down": OK,
    }


def test_a_thread_that_is_stopped_in_a_port_leaves_it_free(said: dict[str, int]) -> None:
    assert about(said, "inside") == {
        "calls": 1,
        "move": OK,
        "old_is_free": OK,
        "new_is_taken": E_BUSY,
        "stop": OK,
        "starts": 2,
        "calls_then": 2,
        "broken": 1,
    }


def test_the_kernel_tells_ticks_and_cycles(said: dict[str, int]) -> None:
    values = about(said, "function")
    assert (values["ticks"], values["cycles"], values["ticks_passed"]) == (OK, OK, 20)
    assert values["ms_passed"] in (19, 20)


def test_a_process_restarts_itself_and_nobody_else(transcript: Transcript) -> None:
    assert transcript.reached
    assert [(f.domain, f.cause) for f in transcript.faults] == [("other", "reset")]
