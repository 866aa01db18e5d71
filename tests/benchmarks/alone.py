"""Benchmarks build and run in one folder for each system: one test process at a time."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks.build import ROOT


@contextmanager
def alone(name: str) -> Iterator[None]:
    """Holds a lock that all test processes of this checkout know."""
    folder = ROOT / "build"
    folder.mkdir(exist_ok=True)
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
