"""`python -m tests.fuzz SECONDS [TARGET...]`: every target for its share of the time, and a table.

Inputs that reach something new are added to build/fuzz/TARGET/found; those that crash, hang or
take too much memory are left in build/fuzz/TARGET. Exit status 1 if there are any.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from tests.fuzz.targets import TARGETS

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests/fuzz/corpus"
BUILD = ROOT / "build/fuzz"
LONGEST, MEMORY_MIB, LARGEST = 20, 2048, 1 << 16
_DONE = re.compile(r"^#(\d+)\s+DONE", re.MULTILINE)
_LAST = re.compile(r"^#(\d+)\s", re.MULTILINE)
_KINDS = ("crash", "timeout", "oom")

Row = dict[str, int]


def fuzz(name: str, seconds: int) -> Row:
    """Run a target; what it found, and how many inputs it saw."""
    room = BUILD / name
    (room / "found").mkdir(parents=True, exist_ok=True)
    log = room / "log"
    command = [
        sys.executable, "-m", "tests.fuzz.worker", name, f"-max_total_time={seconds}",
        f"-timeout={LONGEST}", f"-rss_limit_mb={MEMORY_MIB}", f"-max_len={LARGEST}",
        f"-artifact_prefix={room}/", f"{room / 'found'}", f"{CORPUS / name}",
    ]  # fmt: skip
    with log.open("w") as stream:
        subprocess.run(command, cwd=ROOT, check=False, stderr=stream, stdout=stream)
    said = log.read_text(errors="replace")
    counts = _DONE.findall(said) or _LAST.findall(said) or ["0"]
    found = {kind: len(list(room.glob(f"{kind}-*"))) for kind in _KINDS}
    return {"seconds": seconds, "executions": int(counts[-1]), **found}


def main() -> int:
    """The table on stdout and in build/fuzz/summary.json."""
    if find_spec("atheris") is None:
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
        subprocess.run([*pip, "install", "-e", ".[fuzz]"], cwd=ROOT, check=True)
    total, *names = sys.argv[1:]
    os.nice(19)
    rows: dict[str, Row] = {}
    wanted = names or list(TARGETS)
    for name in wanted:
        rows[name] = row = fuzz(name, max(1, int(total) // len(wanted)))
        faults = ", ".join(f"{row[kind]} {kind}" for kind in _KINDS)
        print(f"{name:14} {row['executions']:>10} executions: {faults}", flush=True)
    (BUILD / "summary.json").write_text(json.dumps(rows, indent=2) + "\n")
    bad = sum(row[kind] for row in rows.values() for kind in _KINDS)
    silent = [name for name, row in rows.items() if not row["executions"]]
    if silent:
        print(f"fuzz: nothing was run of {', '.join(silent)}; see build/fuzz/TARGET/log")
    print(f"fuzz: {sum(row['executions'] for row in rows.values())} executions, {bad} findings")
    return 1 if bad or silent else 0


if __name__ == "__main__":
    sys.exit(main())
