"""The image of the fault campaign, built once for all test processes."""

from __future__ import annotations

import pytest

from tests.faults.image import make
from tests.support.built import Built, once


@pytest.fixture(scope="session")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return once(tmp_path_factory, "campaign", make)
