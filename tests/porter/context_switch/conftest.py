"""Proofs of the tests begin with fewer random states than a user's.

What a test port becomes is decided by z3 for all states and by these; that the number of a user's
finds what few don't is `test_bounds`' affair, and those of other files that say so.
"""

from __future__ import annotations

from functools import partial

import pytest

from porter.context_switch import proved

FEW = 600
_AS_A_USER = frozenset(
    {"test_bounds", "test_guided", "test_proof", "test_freertos", "test_coincidences",
     "test_first_task", "test_transcription", "test_asked_constants"}
)  # fmt: skip


@pytest.fixture(autouse=True)
def few_states(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.module.__name__.rpartition(".")[2] not in _AS_A_USER:
        monkeypatch.setattr(proved, "prove", partial(proved.prove, states=FEW))
