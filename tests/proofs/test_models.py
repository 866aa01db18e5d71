"""The Spin models hold, and each planted mistake is noticed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from proofs.spin import Model, holds, is_noticed, models

pytestmark = pytest.mark.skipif(shutil.which("spin") is None, reason="Spin isn't installed")

MISTAKES = [(model, mistake) for model in models() for mistake in model.mistakes]


@pytest.mark.parametrize("model", models(), ids=lambda model: model.name)
def test_the_model_holds(model: Model, tmp_path: Path) -> None:
    states = holds(model, tmp_path)
    assert min(states.values()) > 1000, "a model that hardly moves shows nothing"


@pytest.mark.campaign
@pytest.mark.parametrize(("model", "mistake"), MISTAKES, ids=[m for _, m in MISTAKES])
def test_a_mistake_is_noticed(model: Model, mistake: str, tmp_path: Path) -> None:
    assert is_noticed(model, mistake, tmp_path)
