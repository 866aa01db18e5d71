"""The short form of the fault campaign: the victim at most restarts, the witnesses notice nothing,
the kernel's state is whole, the log says what happened. `make faults` has all of it."""

from __future__ import annotations

import pytest

from tests.faults.crimes import short_form
from tests.faults.crimes.crime import Crime
from tests.faults.trial import commit, judge
from tests.support.built import Built

pytestmark = pytest.mark.campaign


@pytest.mark.parametrize("crime", short_form(), ids=lambda crime: crime.name)
def test_only_the_victim_is_hurt(campaign: Built, crime: Crime) -> None:
    assert judge(campaign, crime, commit(campaign, crime)) == []
