"""Rooms for the projects of the tests.

For make `port` copies a project and links what lies beside it and above. Of thousands of tests'
folders beside each other that takes longer than all the rest.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As pytest's, beside those of its module alone."""
    room = tmp_path_factory.getbasetemp() / request.path.stem
    room.mkdir(exist_ok=True)
    name = re.sub(r"\W", "_", request.node.name)[:30]
    return Path(tempfile.mkdtemp(prefix=name, dir=room))
