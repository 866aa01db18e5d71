"""A process that is stopped serves nobody, also while its stop is under way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from composer.simulate.shared import Kind
from tests.runtime.observed import about
from tests.support.built import Built, once, with_other_kernel
from tests.support.counted import run
from tests.support.watched import watched

OK, E_CAPABILITY, E_BUSY, E_FAULT = 0, -2, -6, -7
UNTIL = 1100  # kernel ticks
LONGEST = 150  # instructions without interrupts, by docs/objects.md


@pytest.fixture(scope="module")
def stops(system: Callable[[str], Built]) -> Built:
    return system("stops")


@pytest.fixture(scope="module")
def said(stops: Built) -> dict[str, int]:
    values = run(stops.elf, {"judge": 1}, UNTIL).values("judge")
    assert values["done"] == 1
    return values


def test_a_port_opens_another_one_of_its_process(said: dict[str, int]) -> None:
    assert about(said, "before") == {"second": OK, "opened": OK, "first": OK}


def test_a_port_that_still_serves_opens_none_behind_the_stop(said: dict[str, int]) -> None:
    assert said["stop.served"] > 0, "there was something to try"
    assert said["stop.opened"] == 0
    assert about(said, "stopped") == {"first": E_BUSY, "second": E_BUSY}


def test_no_port_serves_before_its_process_opened_it(said: dict[str, int]) -> None:
    assert about(said, "restart") == {"served": 0, "opened": 0}
    assert said["restarted.first"] == E_BUSY


def test_the_next_life_finds_its_slots_empty_and_its_ports_its_own(said: dict[str, int]) -> None:
    assert about(said, "again") == {"starts": 2, "slot_was_free": 1, "first": OK, "in_main": 1}


def test_who_waits_in_it_or_for_it_goes_on(said: dict[str, int]) -> None:
    assert about(said, "under") == {
        "inside": 1,
        "inside_got": E_FAULT,
        "outside": 1,
        "outside_got": E_CAPABILITY,
    }


def test_a_call_that_is_broken_off_does_not_go_on_between_two_steps(said: dict[str, int]) -> None:
    assert about(said, "between") == {"rounds": 5, "counted": 5}


def test_a_step_holds_interrupts_off_no_longer_where_it_wakes_somebody_more_urgent(
    stops: Built, tmp_path: Path
) -> None:
    said, trace = watched(stops, stops.elf, tmp_path, UNTIL)
    assert "done=1" in said
    assert 100 < trace.paths[Kind.CALL].longest <= LONGEST


@pytest.mark.campaign
@pytest.mark.parametrize("wait", ["as thread_stop", "shorter"])
def test_a_thread_of_the_run_time_that_waits_makes_no_step_too_long(
    system: Callable[[str], Built],
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    wait: str,
) -> None:
    ends = system("ends")
    if wait != "shorter":  # control
        ends = once(
            tmp_path_factory,
            "ends by thread_stop",
            lambda room: with_other_kernel(
                system("ends"), room, "kernel/memory.c",
                ("            if (scheduler_runs_for(thread) != thread) {",
                 "            (void)thread_stop(thread);\n            if (false) {"),
                ("} else if (thread->state == THREAD_WAITING) {", "} else if (false) {"),
                ("scheduler_halt(thread);", ""),
                also=[("kernel/slot.c",
                       "static inline __attribute__((always_inline)) bool drop(uint32_t which)",
                       "__attribute__((noinline)) static bool drop(uint32_t which)")],
            ),
        )  # fmt: skip
    _, trace = watched(ends, ends.elf, tmp_path, 200)
    longest = max(path.longest for kind, path in trace.paths.items() if kind.name != "RESET")
    assert (longest <= LONGEST) is (wait == "shorter"), longest
