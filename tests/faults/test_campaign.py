"""Fault classes C01, C02, C04, C05, C06, S22, C21, C22, F01, F07: the victim at most restarts, the
witnesses notice nothing, the log says what happened."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.crimes import CRIMES, Crime, commit
from tests.faults.observe import broken
from tests.support.built import Built


@pytest.mark.parametrize("crime", CRIMES, ids=lambda crime: crime.name)
def test_only_the_victim_is_hurt(campaign: Built, tmp_path: Path, crime: Crime) -> None:
    expected = crime.expected(campaign)
    transcript = commit(campaign, crime, tmp_path)
    assert broken(transcript, crime.by, expected) == []
    said = transcript.values(crime.by)
    assert {key: said.get(key) for key in expected.says} == expected.says
