"""Frames without EXC_RETURN, as RTOSes for cores without FPU have them: switched in user mode and
by VCT, no register is lost; in a VM with FPU every switch goes by VCT."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.runtime.observed import about
from tests.support.built import Built
from tests.support.counted import Transcript, run

CONSOLES = {"short": 1, "granted": 2, "over": 3}


@pytest.fixture(scope="module")
def transcript(system: Callable[[str], Built]) -> Transcript:
    return run(system("short-frames").elf, CONSOLES, 2000)


@pytest.mark.parametrize("vm", CONSOLES)
def test_no_task_loses_a_register(transcript: Transcript, vm: str) -> None:
    values = transcript.values(vm)
    assert about(values, "bad") == {"0": 0, "1": 0, "2": 0}
    assert min(about(values, "rounds").values()) > 300, "all three went on"


@pytest.mark.parametrize("vm", ["short", "over"])
def test_each_side_resumes_both_kinds_of_frame(transcript: Transcript, vm: str) -> None:
    values = transcript.values(vm)
    yielded, preempted = about(values, "yield"), about(values, "preempt")
    assert preempted["all"] == 1499, "every tick but the last switched, and no yield went there"
    assert min(yielded["to_yielded"], yielded["to_preempted"]) > 300
    assert min(preempted["to_yielded"], preempted["to_preempted"]) > 300
    assert yielded["resumed_in_it_block"] > 200


def test_with_an_fpu_there_is_no_room_for_its_state_so_vct_switches(transcript: Transcript) -> None:
    values = transcript.values("granted")
    assert about(values, "yield") == {"to_yielded": 0, "to_preempted": 0, "resumed_in_it_block": 0}
    assert about(values, "preempt")["all"] > 1499
