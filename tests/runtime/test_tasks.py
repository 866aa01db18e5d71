"""Rule 5 and the two kinds of frame: task switches by a yield and by the tick, with and without
FPU, resume each other's tasks and lose no register and no IT state."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.runtime.observed import about
from tests.support.built import Built, once, with_other_kernel
from tests.support.counted import Transcript, run

CONSOLES = {"hard": 1, "soft": 2, "handled": 3, "own": 4, "over": 5}
VMS = list(CONSOLES)
COOPERATIVE = ["hard", "soft", "own", "over"]


@pytest.fixture(scope="module")
def transcript(system: Callable[[str], Built]) -> Transcript:
    return run(system("tasks").elf, CONSOLES, 3000)


@pytest.mark.parametrize("vm", VMS)
def test_no_task_loses_a_register(transcript: Transcript, vm: str) -> None:
    values = transcript.values(vm)
    assert about(values, "bad") == {"0": 0, "1": 0, "2": 0}
    assert min(about(values, "rounds").values()) > 300, "all three went on"
    assert "returned" not in values, "the supervisor call started the first task"


@pytest.mark.parametrize("vm", COOPERATIVE)
def test_each_side_resumes_both_kinds_of_frame(transcript: Transcript, vm: str) -> None:
    values = transcript.values(vm)
    yielded, preempted = about(values, "yield"), about(values, "preempt")
    assert preempted["all"] == 1499, "every tick but the last switched"
    assert min(yielded["to_yielded"], yielded["to_preempted"]) > 300
    assert min(preempted["to_yielded"], preempted["to_preempted"]) > 300


def test_without_a_choice_every_switch_is_that_of_the_handler(transcript: Transcript) -> None:
    values = transcript.values("handled")
    assert set(about(values, "yield").values()) == {0}
    assert about(values, "preempt")["to_yielded"] == 0
    assert about(values, "preempt")["all"] > 2000, "1499 ticks, and the yields"


@pytest.mark.parametrize("vm", VMS)
def test_frames_inside_it_blocks_were_among_them(transcript: Transcript, vm: str) -> None:
    values = transcript.values(vm)
    assert about(values, "preempt")["in_it_block"] > 300
    assert vm == "handled" or about(values, "yield")["resumed_in_it_block"] > 200


def test_only_the_vm_with_a_grant_has_fpu_frames(transcript: Transcript) -> None:
    for vm in ("hard", "own", "over"):
        assert about(transcript.values(vm), "preempt")["with_fpu"] > 300
    assert about(transcript.values("soft"), "preempt")["with_fpu"] == 0


def test_a_kernel_that_forgets_the_fpu_is_noticed(
    system: Callable[[str], Built], tmp_path_factory: pytest.TempPathFactory
) -> None:
    forget = ("    vstmia r0, {s16-s31}\n", "")
    changed = once(
        tmp_path_factory,
        "tasks without FPU save",
        lambda room: with_other_kernel(system("tasks"), room, "arch/armv7m/entry.S", forget),
    )
    values = run(changed.elf, CONSOLES, 3000).values("hard")
    assert sum(about(values, "bad").values()) > 0
