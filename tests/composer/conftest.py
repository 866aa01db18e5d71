"""A tiny built system, made once; a test that changes it takes its own copy."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.composer import tiny_system


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shared and read-only, in a path with a space."""
    return tiny_system.make(tmp_path_factory.mktemp("tiny system") / "out")


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    """A copy of `built`."""
    return shutil.copytree(built, tmp_path / "my out")
