"""The kernel for this computer, compiled once for all test processes."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.host.compile import HERE, compile_kernel, generated
from tests.host.driver import Driver


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The driver program around the kernel as it is."""
    base = tmp_path_factory.getbasetemp()
    room = (base if worker_id == "master" else base.parent) / "host kernel"
    room.mkdir(exist_ok=True)
    with (room / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (room / "driver").exists():
            generated(room, HERE / "system.xml")
            compile_kernel(room)
    return room / "driver"


@pytest.fixture(scope="session")
def kernel(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    """A running driver program."""
    driver = Driver(program, tmp_path_factory.mktemp("host"))
    yield driver
    driver.close()
