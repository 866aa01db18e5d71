"""`fvmkit port --json` as a program of its own: what it says, how long it takes and how much
memory."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Measured:
    """One run. `report` is None where it didn't end with one; `said` is its standard error."""

    seconds: float
    megabytes: float
    status: int | None  # None: it took too long
    report: dict[str, Any] | None
    said: str

    @property
    def trouble(self) -> str:
        """Why there is no report that counts; "" if there is one."""
        if self.status is None:
            return "time-out"
        if self.status not in (0, 1) or "Traceback (most recent call last)" in self.said:
            return f"exit {self.status}: {self.said.strip().splitlines()[-1:] or ['']}"
        return "" if self.report is not None else "no report"


def port(folder: Path, options: list[str], limit: float) -> Measured:
    """Port a folder without writing anything."""
    command = [sys.executable, "-m", "composer.cli", "port", str(folder), "--json", *options]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        )
        status, usage = _wait(child, start + limit)
        seconds = time.monotonic() - start
        said, text = _read(err), _read(out)
    try:
        report = json.loads(text)
    except ValueError:
        report = None
    return Measured(seconds, usage / 1024, status, report, said)


def _wait(child: subprocess.Popen[bytes], end: float) -> tuple[int | None, int]:
    """Exit status and peak memory in KiB."""
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            child.returncode = os.waitstatus_to_exitcode(status)
            return child.returncode, usage.ru_maxrss
        if time.monotonic() > end:
            os.killpg(child.pid, signal.SIGKILL)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            return None, usage.ru_maxrss
        time.sleep(0.05)


def _read(stream: Any) -> str:
    stream.seek(0)
    return str(stream.read().decode("utf-8", "replace"))
