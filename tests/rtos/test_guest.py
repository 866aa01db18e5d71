"""RTOSes from trees that a user gives (`RTOS_TREES=FOLDER`): the demonstration, built with each,
says on bare metal and in a virtual machine the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rtos.demonstration import Rtos, bare, every, guest, guest_system
from tests.support.built import once

pytestmark = pytest.mark.campaign

PARTS = ("undisturbed", "delays", "time-outs", "interrupts", "interrupted", "interrupts")


def _told(said: list[str]) -> list[str]:
    """Without what depends on time."""
    return [line for line in said if not line.startswith("cost")]


@pytest.mark.parametrize("rtos", every(), ids=str)
def test_a_guest_says_what_it_says_on_bare_metal(
    rtos: Rtos, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if missing := rtos.missing():
        pytest.skip(missing)
    expected = bare(rtos, tmp_path)
    assert [line.split(" ")[0] for line in _told(expected)[:-1]] == list(PARTS)
    assert expected[-1] == "all passed"
    system = once(tmp_path_factory, f"rtos-{rtos}", lambda out: guest_system(rtos, out))
    said = guest(system)
    print(f"{rtos}: {len(rtos.edits)} edits by hand; bare {expected}, guest {said}")
    assert _told(said) == _told(expected)
