"""Runs the generated makefiles, part by part."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from composer.entries import check_entries
from scanner.report.errors import FvmError, MissingError


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


def check_split(folder: Path, system: dict[str, Any]) -> None:
    """Every mid-section is written; the error gives the command that does it."""
    projects = {domain["name"]: domain["project"] for domain in system["domains"]}
    for domain in system["domains"]:
        sections = domain.get("sections") or {"files": []}
        for name in sections["files"]:
            file = Path(os.path.normpath(folder / name))
            if file.is_file():
                continue
            vm = sections["of"]
            original = os.path.normpath(folder / (projects[vm]["original"] or "."))
            command = ["fvmkit", "split", original, "--domain", str(folder / f"{vm}.domain.json")]
            raise MissingError(
                f"'{domain['name']}' has no mid-section yet: no file {file}",
                hint=f"run: {shlex.join([*command, '--out', str(file.parent)])}",
            )


def build(folder: Path, progress: Callable[[str], None]) -> None:
    """Build all parts of a composed system; `progress` gets every line a person should see.

    Every part is tried. The FvmError names those that failed and, for one that is too large, what
    to change.
    """
    system = read_system(folder)
    check_ported(folder, system)
    check_split(folder, system)
    for tool in ("make", system["compiler"]):
        if shutil.which(tool) is None:
            raise MissingError(f"'{tool}' isn't installed", hint="run fvmkit doctor")
    parts = ["kernel", *(domain["name"] for domain in system["domains"])]
    failed: dict[str, str] = {}
    for number, part in enumerate(parts, start=1):
        progress(f"[{number}/{len(parts)}] {part}")
        output, status = _make(folder / part, progress)
        if status:
            failed[part] = output
    if failed:
        names = ", ".join(f"'{part}'" for part in failed)
        description = Path(os.path.normpath(folder / system["description"]))
        for part, output in failed.items():
            check_entries(description, part, output, f"{names} didn't build")
        hints = [
            hint
            for part, output in failed.items()
            for hint in _overflows(folder / part, part, output)
        ]
        raise FvmError(
            f"{names} didn't build",
            hint="; ".join(hints) or "correct what the compiler says above",
        )


def _overflows(folder: Path, part: str, output: str) -> list[str]:
    """What to change in the description for a part that the linker found too large."""
    found = dict(re.findall(r"region `(\w+)' overflowed by (\d+) bytes", output))
    missing = _missing(folder / f"{part}.map") if "ld: " in output else 0
    if missing > 0:
        found["ram"] = str(missing)
    attributes = {"kernel": "{}", "hypervisor": "hypervisor-{}"}
    hints = []
    for region, excess in found.items():
        attribute = attributes.get(part, "{}").format(region)
        element = "<kernel>" if part in attributes else f"'{part}'"
        hints.append(f"raise {attribute} of {element} by {excess} bytes or more and compose again")
    return hints


def _missing(link_map: Path) -> int:
    """Bytes of RAM that data and heap need before the stacks, which have their place at the end:
    the linker sees how far they overlap, not how much is missing."""
    text = link_map.read_text(errors="replace") if link_map.is_file() else ""
    end, limit = (re.search(rf"0x(\w+) +{it} = ", text) for it in ("end", "__heap_limit"))
    heap = re.search(r"ASSERT \(\(__heap_limit >= \(end \+ 0x(\w+)\)\)", text)
    if end is None or limit is None or heap is None:
        return 0
    return int(end[1], 16) + int(heap[1], 16) - int(limit[1], 16)


def make_environment() -> dict[str, str]:
    """Ours without what a make above us would tell the one below."""
    return {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}


def _make(folder: Path, progress: Callable[[str], None]) -> tuple[str, int]:
    """Run make in a folder: what the tools printed, and the exit status."""
    with subprocess.Popen(
        ["make", "--no-print-directory", "-j", str(os.cpu_count() or 1)],
        cwd=folder,
        env=make_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        output = []
        for line in process.stdout or ():
            if not line.endswith("is up to date.\n"):
                progress(line.rstrip())
                output.append(line)
    return "".join(output), process.returncode
