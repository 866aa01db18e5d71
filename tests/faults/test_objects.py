"""O3 where processes use every kind of kernel object, forge and free capabilities, fault in ports
and restart: the systems of the runtime's tests, whose kernels must be whole at the end."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from tests.support.built import Built, build, once
from tests.support.counted import run
from tests.support.halted import Halted
from tests.support.invariants import KernelState

SYSTEMS = Path(__file__).parents[1] / "runtime" / "systems"
UNTIL_TICK = 1000


def make(room: Path) -> Built:
    return build(SYSTEMS / f"{room.name}.xml", room)


@pytest.mark.parametrize("name", ["invocation", "run-time", "threads"])
def test_the_kernel_is_whole(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    system = once(tmp_path_factory, name, make)
    halted = Halted(Path(tempfile.mkdtemp(prefix="fvm-")))
    found: list[str] = []

    def inspect() -> None:
        with halted:
            assert halted.leave_kernel()
            found.extend(KernelState(system, system.elf, halted.memory).violations())

    assert run(system.elf, {}, UNTIL_TICK, options=halted.options, inspect=inspect).reached
    assert found == []
