"""The first lines of the README work word by word, pasted into a shell."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
KERNEL = CHECKOUT / "examples/two-legacy-mcus/motor-controller/FreeRTOS-Kernel/tasks.c"


def steps() -> dict[int, str]:
    """Number -> the line, with the comment that has the number."""
    found = re.findall(
        r"^    (\w.*# (\d+)(?::.*)?)$", (CHECKOUT / "README.md").read_text(), re.MULTILINE
    )
    return {int(number): line for line, number in found}


@pytest.mark.skipif(not KERNEL.exists(), reason="make setup wasn't run")
def test_from_the_copy_to_the_ported_project(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(CHECKOUT / "examples")
    assert list(steps()) == list(range(1, 13))
    pasted = "set -e\n" + "\n".join(steps()[number] for number in (2, 3, 4, 5, 6))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash"],
        input=pasted,
        cwd=tmp_path,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out/ported/sensor-node").is_dir()
