"""A makefile that fails says nothing about the files that it didn't reach."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SOURCE = 'void cpu_wait(void) { __asm volatile("cpsid i"); }\n'


def sites(project: Path) -> list[dict[str, str]]:
    command = [sys.executable, "-m", "composer.cli", "port", str(project), "--json"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    found: list[dict[str, str]] = json.loads(answer.stdout)["sites"]
    return found


def project_with(folder: Path, rule: str) -> Path:
    for name in ("reached.c", "missed.c"):
        (folder / name).write_text(SOURCE)
    (folder / "Makefile").write_text(
        f"all: reached.o {rule}\n%.o: %.c\n\tarm-none-eabi-gcc -mthumb -c $< -o $@\n"
    )
    return folder


def status(project: Path) -> dict[str, str]:
    return {site["file"]: site["status"] for site in sites(project)}


def test_every_file_is_looked_at_when_make_fails(tmp_path: Path) -> None:
    project = project_with(tmp_path, "lost/lib.a")
    assert status(project) == {"reached.c": "rewritten", "missed.c": "rewritten"}


def test_a_file_that_make_leaves_out_is_left(tmp_path: Path) -> None:
    assert status(project_with(tmp_path, "")) == {"reached.c": "rewritten", "missed.c": "left"}
