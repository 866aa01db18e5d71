"""Capabilities and objects of the run time: passed on, taken back, made, deleted, used up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from composer.simulate.shared import Kind
from tests.runtime.observed import about
from tests.support.built import Built, described_otherwise, once, with_other_kernel
from tests.support.counted import Transcript, run
from tests.support.watched import watched

LONGEST = 150  # instructions without interrupts, by docs/objects.md
OK, MORE, E_CALL, E_CAPABILITY, E_ARGUMENT, E_BUSY = 0, 1, -1, -2, -3, -6


@pytest.fixture(scope="module")
def transcript(system: Callable[[str], Built]) -> Transcript:
    return run(system("run-time").elf, {"owner": 1}, 2000)


@pytest.fixture(scope="module")
def said(transcript: Transcript) -> dict[str, int]:
    values = transcript.values("owner")
    assert values["done"] == 1
    return values


def test_a_delegated_right_works_and_no_other_does(said: dict[str, int]) -> None:
    assert said["before.invoke"] == E_CAPABILITY
    assert about(said, "given") == {
        "number": 1,
        "invoke": OK,
        "result": 1 + 2 + 3,
        "no_control": E_CAPABILITY,
        "not_on": OK,
        "not_others": E_CAPABILITY,
        "taken": E_BUSY,
    }


def test_what_was_taken_back_works_no_more(said: dict[str, int]) -> None:
    assert about(said, "taken_back") == {"status": OK, "invoke": E_CAPABILITY}


def test_a_number_never_comes_to_mean_something_else(said: dict[str, int]) -> None:
    assert about(said, "again") == {
        "other_number": 1,
        "old_number": E_CAPABILITY,
        "invoke": OK,
        "delete": OK,
        "deleted": E_CAPABILITY,
        "delete_twice": E_CAPABILITY,
        "nothing_left": OK,
    }


def test_revoking_reaches_all_that_was_passed_on_and_nothing_else(said: dict[str, int]) -> None:
    assert about(said, "chain") == {
        "more_rights": E_CAPABILITY,
        "invoke": OK,
        "revoke": MORE + MORE,
        "steps_left": OK,
        "first": E_CAPABILITY,
        "second": E_CAPABILITY,
        "direct": OK,
        "middle": OK,
        "revoke_all": OK,
        "gone": 1,
    }


@pytest.mark.parametrize("bounded", [True, False], ids=["bounded", "control: depths begin anew"])
def test_revoking_reaches_a_line_however_long_it_was_made(
    system: Callable[[str], Built], tmp_path_factory: pytest.TempPathFactory, bounded: bool
) -> None:
    """Who holds a link may revoke a step at a time: the upper ones go, and the lower stay."""
    lineage = system("lineage")
    if not bounded:
        change = (" || node[parent].depth == UINT8_MAX", "")
        lineage = once(
            tmp_path_factory,
            "lineage without end",
            lambda room: with_other_kernel(lineage, room, "kernel/slot.c", change),
        )
    found = run(lineage.elf, {"owner": 1}, 4000).values("owner")
    assert (found["done"], found["before"], found["revoke"]) == (1, OK, OK)
    assert found["rounds"] > 120
    after = {found[f"after.{name}"] for name in ("middle", "user", "bare")}
    assert (after == {E_CAPABILITY}) is bounded, found


def test_what_nobody_gave_cant_be_delegated_deleted_or_used(said: dict[str, int]) -> None:
    assert about(said, "refused") == {
        "not_delegable": E_CAPABILITY,
        "timer": E_CAPABILITY,
        "no_rights": E_CAPABILITY,
        "wild_rights": E_CAPABILITY,
        "slot": E_BUSY,
        "wild_slot": E_BUSY,
        "no_table": E_CAPABILITY,
        "static_delete": E_CAPABILITY,
        "from_bare": E_CAPABILITY,
        "bare_slot": E_CAPABILITY,
        "unused_numbers": 0,
    }


def test_a_restart_takes_back_what_was_passed_on_and_empties_the_slots(
    said: dict[str, int],
) -> None:
    assert about(said, "restart") == {
        "before": OK,
        "passed_on": E_CAPABILITY,
        "own": E_CAPABILITY,
        "others": OK,
        "holder": E_CAPABILITY,
        "slot_is_free": 1,
    }


def test_a_signal_in_kernel_memory(said: dict[str, int]) -> None:
    assert about(said, "signal") == {
        "made": 1,
        "sent": OK,
        "sent_twice": OK,
        "count": 2,
        "no_wait": E_CAPABILITY,
        "by_user": OK,
        "arrived": 1,
        "overlap": E_BUSY,
        "slot_taken": E_BUSY,
        "delete": OK,
        "gone": E_CAPABILITY,
        "gone_there": E_CAPABILITY,
        "anew": 1,
        "old_number": E_CAPABILITY,
        "deleted_anew": OK,
    }


def test_a_thread_in_kernel_memory(said: dict[str, int]) -> None:
    assert about(said, "thread") == {
        "made": 1,
        "stack_elsewhere": E_ARGUMENT,
        "run": OK,
        "argument": 1,
        "worked": 2,
        "priority_taken": E_BUSY,
        "above_ceiling": E_ARGUMENT,
        "move": OK,
        "move_above": E_ARGUMENT,
        "signal_deleted": OK,
        "told": E_CAPABILITY,
        "delete_itself": E_CALL,
        "delete": OK,
        "gone": E_CAPABILITY,
        "priority_free": 1,
    }


def test_memory_and_slots_that_are_used_up_say_so(said: dict[str, int]) -> None:
    assert about(said, "full") == {
        "far_slot": E_BUSY,
        "far_slot_of_thread": E_BUSY,
        "far_priority": E_ARGUMENT,
        "last": 1,
        "beyond": E_ARGUMENT,
        "wild": E_ARGUMENT,
        "not_aligned": E_ARGUMENT,
        "no_kind": E_ARGUMENT,
        "no_slot": E_BUSY,
        "taken": E_BUSY,
        "no_memory": E_CAPABILITY,
        "between": 1,
        "by_another": E_CAPABILITY,
    }


def test_a_fault_in_a_made_thread_restarts_its_process_with_all_memory_free(
    said: dict[str, int], transcript: Transcript
) -> None:
    assert transcript.lines("owner").count("anew.made=1") == 3
    assert (said["anew.revoked"], said["anew.done"]) == (E_CAPABILITY, 1)
    last = transcript.faults[-1]
    assert (last.domain, last.cause, last.thread) == ("owner", "usage", str(0x80 | 2))
    assert [f.domain for f in transcript.faults] == ["middle", "user", "owner"]


@pytest.mark.campaign
@pytest.mark.parametrize("fpu", [False, True], ids=["without_fpu", "with_fpu"])
def test_no_call_on_objects_holds_interrupts_off_for_long(
    system: Callable[[str], Built], tmp_path: Path, fpu: bool
) -> None:
    """Neither those nor the steps of a restart that ends a thread in kernel memory."""
    built = system("run-time")
    if fpu:
        owner = 'slots="4">'
        built = described_otherwise(built, tmp_path / "fpu", owner, f'fpu="yes" {owner}')
    (tmp_path / "run").mkdir()
    said, trace = watched(built, built.elf, tmp_path / "run", 1500)
    assert "done=1" in said or fpu, "threads with FPU need more memory than there is"
    assert 100 < trace.paths[Kind.CALL].longest <= LONGEST
