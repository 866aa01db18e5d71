"""The short form of the soak: some seconds of the system's own time."""

from __future__ import annotations

import pytest

from tests.faults.soak import soak
from tests.support.built import Built

pytestmark = pytest.mark.campaign

SECONDS = 8


def test_everything_is_accounted_for_and_the_kernel_stays_whole(campaign: Built) -> None:
    counts = soak(campaign, SECONDS, seed=5)
    assert counts.violations == []
    assert counts.differences() == []
    for done in (counts.crimes, counts.bells, counts.floods, counts.victim_lines):
        assert done > 0, counts
