"""The migrated example, made once for all test processes."""

from __future__ import annotations

import pytest

from tests.support.built import Built, once
from tests.system.road import NAME, Road, travel, without_protection


@pytest.fixture(scope="session")
def road(tmp_path_factory: pytest.TempPathFactory) -> Road:
    """Composed, ported, built, scanned and linked. Read-only."""
    return Road(once(tmp_path_factory, NAME, travel))


@pytest.fixture(scope="session")
def unprotected(road: Road, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The control: the same system with memory protection off."""
    return once(tmp_path_factory, "unprotected", lambda out: without_protection(road, out))
