"""Slots of a process: what others may do to them, and that a restart gives all of them back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.built import Built, once, with_other_kernel
from tests.support.counted import run

OK, MORE, E_BUSY = 0, 1, -6
CLOSED = "slot_table[which].id = (slot_table[which].id | SLOT_MASK) & ~FVM_CAP_RUN_TIME;"
STAYS_OPEN = (CLOSED, "")
HAS_A_NUMBER = (CLOSED, "slot_table[which].id &= ~FVM_CAP_RUN_TIME;")
WEARS = ("slot->id += SLOT_MASK + 1u;", "slot->id += 1u << 28;")  # used up after four times
OPENS = (
    "*id = FVM_CAP_RUN_TIME | (*id & (FVM_CAP_RUN_TIME - 1u) & ~SLOT_MASK) | number;",
    "*id |= (*id >> 31 != 0 ? 0 : FVM_CAP_RUN_TIME) | number;",
)


def said_by(system: Built) -> dict[str, list[int]]:
    """What the judge said, by key."""
    found: dict[str, list[int]] = {}
    for line in run(system.elf, {"judge": 1}, 2000).lines("judge"):
        key, value = line.split("=")
        found.setdefault(key, []).append(int(value, 0))
    assert found["done"] == [1]
    return found


@pytest.fixture
def changed(
    system: Callable[[str], Built], tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., Built]:
    def build(name: str, file: str, *changes: tuple[str, str]) -> Built:
        slots = system("slots")

        def make(room: Path) -> Built:
            return with_other_kernel(slots, room, file, *changes)

        return once(tmp_path_factory, f"slots {name}", make)

    return build


@pytest.mark.campaign
def test_a_restart_gives_back_all_slots(system: Callable[[str], Built]) -> None:
    """Although a thread of the process goes on to fill one until it is stopped itself."""
    said = said_by(system("slots"))
    assert (said["restart"], said["boots"]) == ([OK], [1, 2])
    for slot in range(3):
        assert min(said[f"slot.{slot}"]) > 0


@pytest.mark.campaign
@pytest.mark.parametrize(
    "change", [STAYS_OPEN, HAS_A_NUMBER], ids=["it stays open", "it has a number"]
)
def test_control_it_never_stops_where_a_slot(
    changed: Callable[..., Built], change: tuple[str, str], request: pytest.FixtureRequest
) -> None:
    said = said_by(changed(request.node.callspec.id, "kernel/slot.c", change))
    assert said["made"][0] > 0
    assert (said["restart"], said["boots"]) == ([MORE], [1, 1])


@pytest.mark.campaign
def test_a_neighbour_fills_as_many_as_it_may(system: Callable[[str], Built]) -> None:
    said = said_by(system("slots"))
    assert (said["filled"], said["beyond"]) == ([8], [E_BUSY])


@pytest.mark.campaign
def test_a_slot_that_a_neighbour_used_up_is_there_after_a_restart(
    changed: Callable[..., Built],
) -> None:
    said = said_by(changed("used up", "kernel/slot.c", WEARS))
    assert said["filled"][0] < 8
    assert said["slot.0"][1] > 0
    said = said_by(changed("used up for ever", "kernel/slot.c", WEARS, OPENS))
    assert said["slot.0"][1] == E_BUSY
