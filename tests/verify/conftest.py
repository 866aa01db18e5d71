"""Images to be verified: the example, ported and built as a user does it."""

from __future__ import annotations

import pytest

from tests.support.built import Built, once
from tests.system.road import NAME, travel


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Shared with the system tests, and read-only."""
    return once(tmp_path_factory, NAME, travel)
