"""Runs the generated makefiles, part by part."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scanner.report.errors import FvmError, MissingError


@dataclass(frozen=True)
class BuildFailure:
    """A part that didn't compile or link, with the tools' own words."""

    part: str
    output: str


def read_system(folder: Path) -> dict[str, Any]:
    """DIR/system.json; MissingError when DIR isn't the output of compose."""
    path = folder / "system.json"
    try:
        record = json.loads(path.read_text("utf-8"))
    except OSError:
        raise MissingError(
            "isn't a composed system: it has no system.json",
            file=folder,
            hint="run fvmkit compose SYSTEM.xml --out with this folder first",
        ) from None
    except ValueError:
        raise FvmError("isn't valid JSON", file=path, hint="run fvmkit compose again") from None
    if not isinstance(record, dict) or record.get("schema") != 1:
        raise FvmError(
            "is of another version of fvmkit", file=path, hint="run fvmkit compose again"
        )
    return record


def check_ported(folder: Path, system: dict[str, Any]) -> None:
    """Every project has its ported copy; the error gives the command that makes it."""
    for domain in system["domains"]:
        project = domain["project"]
        if project["ported"] is None:
            continue
        ported = Path(os.path.normpath(folder / project["ported"]))
        if not ported.is_dir():
            original = os.path.normpath(folder / project["original"])
            command = ["fvmkit", "port", original, "--domain", str(folder / domain["policy"])]
            raise MissingError(
                f"'{domain['name']}' isn't ported yet: no folder {ported}",
                hint=f"run: {shlex.join([*command, '--out', str(ported)])}",
            )


def build(folder: Path, progress: Callable[[str], None]) -> list[BuildFailure]:
    """Build all parts of a composed system; the failures. `progress` gets a line a step."""
    system = read_system(folder)
    check_ported(folder, system)
    if shutil.which("make") is None:
        raise MissingError("'make' isn't installed", hint="run fvmkit doctor")
    parts = ["kernel", *(domain["name"] for domain in system["domains"])]
    failures = []
    for number, part in enumerate(parts, start=1):
        progress(f"[{number}/{len(parts)}] {part}")
        output, status = _make(folder / part, progress)
        if status:
            failures.append(BuildFailure(part, output))
    return failures


def _make(folder: Path, progress: Callable[[str], None]) -> tuple[str, int]:
    """Run make in a folder: what it printed to stderr or as errors, and its exit status."""
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
    process = subprocess.Popen(
        ["make", "--no-print-directory", "-j", str(os.cpu_count() or 1)],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    output = []
    assert process.stdout is not None
    for line in process.stdout:
        # Recipes announce themselves with two blanks; everything else is a tool speaking.
        if line.startswith("  ") and line.rstrip().endswith((".c", ".s", ".S", ".elf")):
            progress(line.rstrip())
        else:
            output.append(line)
    return "".join(output), process.wait()
