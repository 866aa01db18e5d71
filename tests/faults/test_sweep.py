"""T14, T15: an interrupt at some instructions of some paths. `make faults` takes all of them."""

from __future__ import annotations

import pytest

from tests.faults.sweep import SWEEPS, Sweep, sweep
from tests.support.built import Built

pytestmark = pytest.mark.campaign


@pytest.mark.parametrize("one", [s for s in SWEEPS if s.short], ids=lambda s: s.name)
def test_no_interrupt_is_lost(campaign: Built, one: Sweep) -> None:
    assert sweep(campaign, one, full=False) == []
