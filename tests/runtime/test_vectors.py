"""Rules 1-4: masks, order of the handlers, what ends a wait, nothing forgotten."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.runtime.observed import about
from tests.support.built import Built, once, with_other_kernel
from tests.support.counted import run

E_ARGUMENT = -3
TICKS_OF_5_MS = (5, 6)
US_OF_A_CALL = range(0, 20)  # a wait that returned at once


@pytest.fixture(scope="module")
def values(system: Callable[[str], Built]) -> dict[str, int]:
    found = run(system("vectors").elf, {"vectors": 1}, 2000).values("vectors")
    assert found["done"] == 1, found
    return found


@pytest.mark.parametrize("mask", ["primask", "basepri"])
def test_a_masked_tick_waits_and_is_caught_up(values: dict[str, int], mask: str) -> None:
    held = about(values, mask)
    assert held["during"] == 0
    assert held["after"] in TICKS_OF_5_MS


def test_a_disabled_line_keeps_its_vector_pending(values: dict[str, int]) -> None:
    """The usual end of a driver: `__disable_irq(); NVIC_DisableIRQ(X); __enable_irq();`."""
    assert about(values, "disabled") == {
        "at_start": 0,
        "pending": 1,
        "enabled": 1,
        "while_masked": 1,
        "cleared": 1,
    }


def test_each_mask_is_cleared_alone_and_the_stronger_holds(values: dict[str, int]) -> None:
    assert about(values, "both") == {"base_left": 0, "pri_left": 0, "none_left": 1}


@pytest.mark.parametrize("mask", ["save_pri", "save_base"])
def test_an_inner_restore_leaves_the_outer_section_masked(
    values: dict[str, int], mask: str
) -> None:
    assert about(values, mask) == {"inner": 0, "outer": 1}


def test_a_restored_primask_is_bit_0_alone(values: dict[str, int]) -> None:
    assert about(values, "marked") == {"closed": 0, "open": 1, "level": 1}


def test_level_1_holds_the_maskable_only_and_level_2_everything(values: dict[str, int]) -> None:
    assert about(values, "level1") == {"transparent": 1, "svc": 1, "maskable": 0}
    assert about(values, "level0") == {"maskable": 1}
    assert about(values, "level2") == {"transparent": 1, "after": 2}


def test_what_starts_the_first_task_runs_once(values: dict[str, int]) -> None:
    """Behind it supervisor calls go to their handler, which a start by hand must not take away."""
    assert about(values, "once") == {"held": 0, "order": 61, "calls": 1, "starts": 2}


def test_a_saved_mask_is_1_or_0(values: dict[str, int]) -> None:
    assert about(values, "saved") == {"open": 0, "masked": 1}


def test_a_supervisor_call_brings_its_number(values: dict[str, int]) -> None:
    assert about(values, "svc") == {
        "number": 103,
        "under_basepri": 255,
        "held": 255,
        "served_at_unmask": 7,
        "calls": 3,
    }


def test_a_call_by_registers_loses_none_whatever_comes_in_between(values: dict[str, int]) -> None:
    assert about(values, "registers") == {
        "wrong": 0,
        "changed": 0,
        "lost": 0,
        "number": 0,
        "enough": 1,
    }


def test_the_handler_of_supervisor_calls_is_known_from_others(values: dict[str, int]) -> None:
    """From what starts the first task too, which runs in its place."""
    assert about(values, "asked") == {"mistaken": 0, "in_usr": 0}


def test_privilege_given_up_comes_back_by_a_handler(values: dict[str, int]) -> None:
    assert about(values, "privilege") == {
        "at_first": 0,
        "with": 0,
        "without": 1,
        "written_without": 1,
        "given_back": 0,
    }


def test_who_makes_no_call_by_registers_is_linked_without_it(
    system: Callable[[str], Built],
) -> None:
    assert system("vectors").extent("vectors", "guest_call_frame")
    for vm in ("soft", "hard"):
        for name in ("guest_call_frame", "guest_call", "guest_call_served"):
            with pytest.raises(KeyError):
                system("waiting").symbol(vm, name)


def test_handlers_run_by_priority_then_call_then_tick_then_switch(
    values: dict[str, int],
) -> None:
    tick, call, maskable, transparent, switch = 1, 2, 3, 4, 5
    first = [transparent, maskable, call, tick, switch]
    second = [maskable, transparent, call, tick, switch]
    assert about(values, "order") == {
        "transparent_first": int("".join(map(str, first))),
        "maskable_first": int("".join(map(str, second))),
    }


def test_a_vector_is_found_wherever_it_is(values: dict[str, int]) -> None:
    assert about(values, "far") == {"alone": 8, "by_id": 8, "by_priority": 8}


def test_a_vector_pended_by_its_own_handler_runs_again_without_nesting(
    values: dict[str, int],
) -> None:
    assert about(values, "again") == {"runs": 10}
    assert about(values, "nesting") == {"deepest": 1}


def test_a_yield_without_a_pick_function_goes_through_vector_0(values: dict[str, int]) -> None:
    assert about(values, "yield") == {"switches": 1}


def test_the_legacy_idle_sleeps_masked_and_misses_no_tick(values: dict[str, int]) -> None:
    sleep = about(values, "sleep")
    assert sleep["rounds_of_20_ticks"] in range(20, 23), "it sleeps, once a tick"
    assert sleep["longest_us"] <= 1050, "and no longer than to the next tick"


def test_a_wait_ends_by_a_pending_vector_or_one_since_the_last_wait(
    values: dict[str, int],
) -> None:
    wait = about(values, "wait")
    assert wait["nothing_us"] in range(950, 1050), "until the next tick"
    assert wait["masked_pending_us"] in US_OF_A_CALL
    assert wait["latched_us"] in US_OF_A_CALL
    assert wait["latch_used_up_us"] in range(400, 600), "half a tick was left"


def test_closed_to_interrupts_they_stay_latched(values: dict[str, int]) -> None:
    assert about(values, "closed") == {"ticks": 0, "maskable": 0}
    assert about(values, "opened")["ticks"] in TICKS_OF_5_MS
    assert about(values, "opened")["maskable"] == 1


def test_unmask_forgets_no_tick_at_any_instruction(values: dict[str, int]) -> None:
    race = about(values, "race")
    assert race["right"] == 0
    assert race["wrong"] > 20, "the forbidden order shows that the loop hits the gap"


def test_a_wake_while_vct_runs_ends_its_next_wait(values: dict[str, int]) -> None:
    assert about(values, "sticky") == {"forgotten": 0}


@pytest.mark.campaign
def test_without_the_sticky_wake_ticks_are_forgotten(
    system: Callable[[str], Built], tmp_path_factory: pytest.TempPathFactory
) -> None:
    wake = ("vcpu->vct_wait = WAIT_LATCHED; /* the next wait returns at once */", "")
    changed = once(
        tmp_path_factory,
        "vectors without sticky wake",
        lambda room: with_other_kernel(system("vectors"), room, "kernel/pend.h", wake),
    )
    found = run(changed.elf, {"vectors": 1}, 2000).values("vectors")
    assert found.get("done") != 1 or found["sticky.forgotten"] > 0, found


def test_a_tick_cleared_by_the_guest_comes_again(values: dict[str, int]) -> None:
    clear = about(values, "clear")
    assert (clear["was_pending"], clear["is_pending"]) == (1, 0)
    assert clear["ticks_after"] in TICKS_OF_5_MS


def test_bad_arguments_are_refused(values: dict[str, int]) -> None:
    assert set(about(values, "bad").values()) == {E_ARGUMENT}
