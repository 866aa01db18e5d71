"""Runs a compiler, or a tool that comes with one."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

_SECONDS = 120


def ran(
    command: Sequence[str], text: str = "", folder: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    """What a command did; `text` is its standard input. Raises OSError if it can't be run or takes
    too long."""
    try:
        return subprocess.run(
            command,
            cwd=folder,
            input=text.encode(),
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise TimeoutError(str(error)) from error
