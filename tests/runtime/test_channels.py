"""Event channels VM to VM, VM to process, process to VM: each event arrives once."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.built import Built
from tests.support.counted import run


def test_a_token_goes_round_over_all_kinds_of_channels(system: Callable[[str], Built]) -> None:
    transcript = run(system("channels").elf, {"first": 1, "second": 2, "relay": 4}, 250)
    for name in ("first", "second"):
        assert transcript.values(name) == {"tokens": 100, "refused": 0}
    assert transcript.values("relay") == {"taken": 100, "refused": 0}
    assert not transcript.faults
