"""The first lines of the README work word by word."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
KERNEL = CHECKOUT / "examples/two-legacy-mcus/motor-controller/FreeRTOS-Kernel/tasks.c"


def steps() -> dict[int, str]:
    """Number -> command, without the comment."""
    found = re.findall(r"^    (\d+) +(.*)$", (CHECKOUT / "README.md").read_text(), re.MULTILINE)
    return {int(number): command for number, command in found}


@pytest.mark.skipif(not KERNEL.exists(), reason="make setup wasn't run")
def test_from_the_copy_to_the_ported_project(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(CHECKOUT / "examples")
    assert list(steps()) == list(range(1, 13))
    for number in (2, 3, 4, 5, 6):
        words = shlex.split(steps()[number], comments=True)
        if words[0] == "fvmkit":
            words[:1] = [sys.executable, "-m", "composer.cli"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/ported/sensor-node").is_dir()
