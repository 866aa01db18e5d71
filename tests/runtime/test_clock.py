"""Tick with catch-up, tick rates, watchdog."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.runtime.observed import about
from tests.support.built import Built
from tests.support.counted import Fault, Transcript, run

OK, E_ARGUMENT = 0, -3
TIMEOUT = 200  # kernel ticks
CATCHUP = 10


@pytest.fixture(scope="module")
def transcript(system: Callable[[str], Built]) -> Transcript:
    return run(system("clock").elf, {"clock": 1}, 3000)


@pytest.fixture(scope="module")
def values(transcript: Transcript) -> dict[str, int]:
    return transcript.values("clock")


@pytest.fixture(scope="module")
def expiries(transcript: Transcript) -> list[Fault]:
    return [fault for fault in transcript.faults if fault.cause == "watchdog"]


def test_a_rate_above_the_kernels_or_no_divisor_of_it_is_refused(values: dict[str, int]) -> None:
    rate = about(values, "rate")
    assert {rate[key] for key in ("3000", "2000", "300", "max", "refused_keeps")} == {E_ARGUMENT}
    assert rate["none_runs"] == 0
    assert {rate[key] for key in ("500", "1000", "0")} == {OK}


def test_the_tick_has_the_rate_asked_for(values: dict[str, int]) -> None:
    ticks = about(values, "ticks_of_100ms")
    assert ticks["500"] in (50, 51)
    assert ticks["1000"] in (100, 101)
    assert ticks["after_refusal"] in (100, 101)
    assert ticks["0"] == 0


def test_a_polled_timer_keeps_time(values: dict[str, int]) -> None:
    polled = about(values, "polled")
    assert polled["periods_ms"] in (99, 100)
    assert polled["val_in_period"] == 1
    assert polled["tick_ms"] in (98, 99, 100)


def test_missed_ticks_are_caught_up_to_the_limit_and_the_rest_counted(
    values: dict[str, int], transcript: Transcript
) -> None:
    catchup = about(values, "catchup")
    assert catchup["of_8"] in (8, 9)
    assert catchup["of_25"] == CATCHUP
    assert catchup["of_5_after"] in (5, 6)
    reset = next(fault for fault in transcript.faults if fault.cause == "reset")
    after = next(stat for stat in transcript.stats("clock") if stat.tick > reset.tick)
    assert after.dropped in (25 - CATCHUP, 26 - CATCHUP)


def test_the_watchdog_starts_with_the_first_feed(values: dict[str, int]) -> None:
    assert values["unfed.alive"] == 1, "500 ms without a feed, the timeout is 200 ms"
    assert values["fed.alive"] == 1


def test_the_watchdog_ends_running_masked_and_waiting_vms(
    system: Callable[[str], Built], transcript: Transcript, expiries: list[Fault]
) -> None:
    assert [fault.restarts for fault in expiries] == [2, 3, 4]
    running, masked, waiting = expiries
    clock = system("clock")
    assert clock.function("clock", running.pc or 0) == "main"
    assert clock.function("clock", masked.pc or 0) == "main"
    assert clock.function("clock", waiting.pc or 0) == "hyp_vct_wait"
    assert transcript.values("clock")["done"] == 1


@pytest.mark.campaign
def test_the_watchdog_waits_its_timeout_of_real_time(expiries: list[Fault]) -> None:
    running, masked, waiting = (fault.tick for fault in expiries)
    assert masked - running in range(TIMEOUT - 1, TIMEOUT + 2)
    assert waiting - masked in range(TIMEOUT - 1, TIMEOUT + 2)


def test_an_unfed_vm_is_left_alone_after_the_reboot(transcript: Transcript) -> None:
    last = transcript.stats("clock")[-1]
    assert last.tick > transcript.faults[-1].tick + 2 * TIMEOUT
    assert last.restarts == 4
