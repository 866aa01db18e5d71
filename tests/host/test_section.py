"""Whatever a VM writes into the memory of a three-section interrupt, at whatever time, the
mid-section does a bounded piece of work for each interrupt, and none outside that memory."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from composer.sources import runtime_folder
from tests.host.compile import HERE, MACHINE, SANITIZERS, sh

ROUNDS = 20_000


@pytest.fixture(scope="module")
def section(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The driver of tests/host/section."""
    target = tmp_path_factory.mktemp("section") / "driver"
    runtime = runtime_folder()
    sources = [HERE / "section/driver.c", runtime / "native/split.c", runtime / "shared/ring.c"]
    folders = [HERE / "section", runtime / "include", runtime / "arch/armv7m/include"]
    includes = [f"-I{folder}" for folder in folders]
    sh(["gcc", *MACHINE, *SANITIZERS, *includes, "-o", str(target), *map(str, sources)])
    return target


@pytest.mark.parametrize("seed", range(10))
def test_an_interrupt_is_bounded_work(section: Path, seed: int) -> None:
    done = subprocess.run(
        [str(section), str(seed), str(ROUNDS)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
