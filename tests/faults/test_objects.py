"""O3 where processes use every kind of kernel object, forge and free capabilities, fault in ports
and restart: the systems of the runtime's tests, whose kernels must be whole at the end."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tests.support.built import Built, build, once, with_other_kernel
from tests.support.counted import run
from tests.support.halted import Halted
from tests.support.invariants import KernelState

pytestmark = pytest.mark.campaign

SYSTEMS = Path(__file__).parents[1] / "runtime" / "systems"
UNTIL_TICK = 1000


def make(room: Path) -> Built:
    return build(SYSTEMS / f"{room.name}.xml", room)


def found_in(system: Built) -> list[str]:
    """Violations when it has run for a while."""
    halted = Halted(Path(tempfile.mkdtemp(prefix="fvm-")))
    found: list[str] = []

    def inspect() -> None:
        with halted:
            assert halted.leave_kernel()
            found.extend(KernelState(system, system.elf, halted.memory).violations())

    assert run(system.elf, {}, UNTIL_TICK, options=halted.options, inspect=inspect).reached
    return found


@pytest.mark.parametrize("name", ["invocation", "run-time", "threads", "lineage"])
def test_the_kernel_is_whole(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    assert found_in(once(tmp_path_factory, name, make)) == []


def test_a_depth_of_delegation_that_begins_anew_is_noticed(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    lineage = once(tmp_path_factory, "lineage", make)
    change = (" || node[parent].depth == UINT8_MAX", "")
    changed = once(
        tmp_path_factory,
        "lineage without end",
        lambda room: with_other_kernel(lineage, room, "kernel/slot.c", change),
    )
    found = found_in(changed)
    assert any("is a root behind node" in line for line in found), found
