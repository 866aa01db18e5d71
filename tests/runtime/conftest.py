"""Systems of the runtime's tests, built once for all test processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.built import Built, build, once

SYSTEMS = Path(__file__).parent / "systems"


@pytest.fixture(scope="session")
def system(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Built]:
    """Builds systems/NAME.xml."""

    def make(name: str) -> Built:
        return once(tmp_path_factory, name, lambda room: build(SYSTEMS / f"{name}.xml", room))

    return make
