"""A makefile that fails says nothing about the files that it didn't reach."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SOURCE = 'void cpu_wait(void) { __asm volatile("cpsid i"); }\n'


def sites(project: Path, *options: str) -> list[dict[str, str]]:
    command = [sys.executable, "-m", "composer.cli", "port", str(project), "--json", *options]
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


def status(project: Path, *options: str) -> dict[str, str]:
    return {site["file"]: site["status"] for site in sites(project, *options)}


def test_every_file_is_looked_at_when_make_fails(tmp_path: Path) -> None:
    project = project_with(tmp_path, "lost/lib.a")
    assert status(project) == {"reached.c": "rewritten", "missed.c": "rewritten"}


def test_a_file_that_make_leaves_out_is_left(tmp_path: Path) -> None:
    assert status(project_with(tmp_path, "")) == {"reached.c": "rewritten", "missed.c": "left"}


def test_what_the_description_builds_is_ported_whatever_make_builds(tmp_path: Path) -> None:
    project = tmp_path / "legacy"
    project.mkdir()
    domain = tmp_path / "d.domain.json"
    record = {"schema": 1, "name": "d", "chip": "STM32F405RG", "clock_hz": 168_000_000}
    record |= {"kernel_tick_hz": 1000, "fpu": False, "vectors": [], "sources": ["missed.c"]}
    domain.write_text(json.dumps(record))
    found = status(project_with(project, ""), "--domain", str(domain))
    assert found == {"reached.c": "rewritten", "missed.c": "rewritten"}
