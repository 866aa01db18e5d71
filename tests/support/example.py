"""The example's two legacy projects: their stand-alone builds, and the pair of them running."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.machine import Machine

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "two-legacy-mcus"
CONVERSATIONS = Path(__file__).resolve().parents[1] / "examples" / "conversations"

MOTOR = "motor-controller"
SENSOR = "sensor-node"
CONSOLES = {MOTOR: 1, SENSOR: 2}  # USART numbers, the same stand-alone and consolidated


def copy_project(name: str, folder: Path) -> None:
    """Copies a legacy project, without what was built in it."""
    shutil.copytree(EXAMPLE / name, folder, ignore=shutil.ignore_patterns("build"))


def build_project(folder: Path) -> tuple[Path, str]:
    """Builds a project with its own Makefile. Returns the ELF file and what make printed."""
    result = subprocess.run(
        ["make", "-C", str(folder), "-j2"], capture_output=True, text=True, check=False
    )
    output = result.stdout + result.stderr
    assert result.returncode == 0, output
    (elf,) = (folder / "build").glob("*.elf")
    return elf, output


def build_standalone(folder: Path) -> tuple[dict[str, Path], str]:
    """Builds copies of both projects in `folder`. Returns the ELF files and make's output."""
    elves: dict[str, Path] = {}
    printed = ""
    for name in CONSOLES:
        copy_project(name, folder / name)
        elves[name], output = build_project(folder / name)
        printed += output
    return elves, printed


@contextmanager
def standalone_pair(elves: dict[str, Path]) -> Iterator[dict[str, Machine]]:
    """Both firmwares, each on its own machine, joined at USART3, after their banners."""
    with tempfile.TemporaryDirectory(prefix="fvm-") as folder:
        wire = Path(folder) / "usart3"
        with (
            Machine(elves[MOTOR], {MOTOR: 1}, wire=wire, wire_listens=True) as motor,
            Machine(elves[SENSOR], {SENSOR: 2}, wire=wire) as sensor,
        ):
            motor.console[MOTOR].wait_ready()
            sensor.console[SENSOR].wait_ready()
            yield {MOTOR: motor, SENSOR: sensor}
