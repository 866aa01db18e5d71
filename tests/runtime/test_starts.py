"""A VM that never gets going is stopped after eight restarts, if its description says nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.built import Built
from tests.support.counted import Transcript, run

LIMIT = 8


@pytest.fixture(scope="module")
def transcript(system: Callable[[str], Built]) -> Transcript:
    return run(system("starts").elf, {}, 1000)


def test_one_that_faults_in_each_start_is_stopped_and_the_log_says_so(
    transcript: Transcript,
) -> None:
    assert transcript.stats("stuck")[-1].restarts == LIMIT
    actions = [
        record.fields["action"]
        for record in transcript.log
        if record.kind == "fault" and record.fields["domain"] == "stuck"
    ]
    assert actions == ["restart"] * LIMIT + ["stop"]


@pytest.mark.parametrize("vm", ["waits", "later", "forever"])
def test_one_that_got_going_or_is_described_so_goes_on(transcript: Transcript, vm: str) -> None:
    assert transcript.stats(vm)[-1].restarts > 2 * LIMIT
