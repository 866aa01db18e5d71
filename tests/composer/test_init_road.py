"""From two project folders to a running image: init, what DECIDE says, then the README's lines."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.composer.init_road import copy_example, decide
from tests.support.example import CONSOLES, EXAMPLE, MOTOR, SENSOR, copy_project
from tests.support.machine import Machine

KERNEL = EXAMPLE / MOTOR / "FreeRTOS-Kernel" / "tasks.c"
LOGGER = "data-logger"
CHIP = ("--chip", "STM32F405RG", "--board", "netduinoplus2", "-o", "system.xml")
CHECKOUT = Path(__file__).resolve().parents[2]


def fvmkit(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a user does, in `folder`."""
    return subprocess.run(
        [sys.executable, "-m", "composer.cli", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )


def road(folder: Path, names: Sequence[str]) -> Path:
    """The README's lines from compose to link, each of which must succeed. Returns the image."""
    lines = [["compose", "system.xml", "--out", "out"]]
    for name in names:
        domain = f"out/{name}.domain.json"
        lines.append(["port", name, "--domain", domain, "--out", f"out/ported/{name}"])
    lines += [["build", "out"], ["compose", "system.xml", "--out", "out"]]
    for name in names:
        lines.append(["scan", f"out/{name}/{name}.elf", "--policy", f"out/{name}.domain.json"])
    lines.append(["link", "out", "-o", "image/system"])
    for words in lines:
        done = fvmkit(folder, *words)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return folder / "image/system.elf"


def answers(machine: Machine, names: Sequence[str]) -> None:
    """Every console starts and knows how its firmware is."""
    for name in names:
        machine.console[name].wait_ready()
    for name in names:
        answer = machine.console[name].ask(b"status")
        assert answer[-1] == "ok"
        assert answer[0].startswith("status t=")


@pytest.mark.campaign
@pytest.mark.skipif(not KERNEL.exists(), reason="make setup wasn't run")
def test_two_projects_that_talked_to_each_other_become_a_running_image(tmp_path: Path) -> None:
    folder = tmp_path / "my system"
    copy_example(folder)
    file = folder / "system.xml"
    first = fvmkit(folder, "init", MOTOR, SENSOR, *CHIP)
    assert first.returncode == 0, first.stderr
    file.write_text(decide(file.read_text()))
    with Machine(road(folder, (MOTOR, SENSOR)), CONSOLES) as machine:
        answers(machine, (MOTOR, SENSOR))
        messages = machine.console[SENSOR].ask(b"link")
    assert " gaps=0 " in messages[0]


@pytest.mark.campaign
def test_two_projects_without_a_conflict_need_no_edit(tmp_path: Path) -> None:
    folder = tmp_path / "my system"
    copy_project(SENSOR, folder / SENSOR)
    logger = CHECKOUT / "examples" / "cubemx-hal" / LOGGER
    shutil.copytree(logger, folder / LOGGER, ignore=shutil.ignore_patterns("build"))
    first = fvmkit(folder, "init", LOGGER, SENSOR, *CHIP)
    assert first.returncode == 0, first.stderr
    consoles = {LOGGER: 1, SENSOR: 2}
    with Machine(road(folder, (LOGGER, SENSOR)), consoles) as machine:
        answers(machine, (LOGGER, SENSOR))
