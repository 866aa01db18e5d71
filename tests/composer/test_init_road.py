"""From two project folders to a running image: init, what DECIDE says, then the README's lines."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.composer.init_road import copy_example, decide
from tests.support.example import CONSOLES, EXAMPLE, MOTOR, SENSOR
from tests.support.machine import Machine

KERNEL = EXAMPLE / MOTOR / "FreeRTOS-Kernel" / "tasks.c"
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


@pytest.mark.skipif(not KERNEL.exists(), reason="make setup wasn't run")
def test_two_projects_become_a_running_image(tmp_path: Path) -> None:
    folder = tmp_path / "my system"
    copy_example(folder)
    file = folder / "system.xml"
    chip = ("--chip", "STM32F405RG", "--board", "netduinoplus2", "-o", "system.xml")
    first = fvmkit(folder, "init", MOTOR, SENSOR, *chip)
    assert first.returncode == 0, first.stderr

    file.write_text(decide(file.read_text()))
    lines = [["compose", "system.xml", "--out", "out"]]
    for name in (MOTOR, SENSOR):
        domain = f"out/{name}.domain.json"
        lines.append(["port", name, "--domain", domain, "--out", f"out/ported/{name}"])
    lines += [["build", "out"], ["compose", "system.xml", "--out", "out"]]
    for name in (MOTOR, SENSOR):
        lines.append(["scan", f"out/{name}/{name}.elf", "--policy", f"out/{name}.domain.json"])
    lines.append(["link", "out", "-o", "image/system"])
    for words in lines:
        done = fvmkit(folder, *words)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"

    with Machine(folder / "image/system.elf", CONSOLES) as machine:
        for name in (MOTOR, SENSOR):
            machine.console[name].wait_ready()
        for name in (MOTOR, SENSOR):
            answer = machine.console[name].ask(b"status")
            assert answer[-1] == "ok"
            assert answer[0].startswith("status t=")
        messages = machine.console[SENSOR].ask(b"link")
    assert " gaps=0 " in messages[0]
