"""Run a slow command so that its user sees that something happens."""

from __future__ import annotations

import collections
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from scanner.report.errors import FvmError

TAIL_LINES = 30  # of a failed command's output: enough to see the cause
QUIET_SECONDS = 10.0  # between two signs of life where the output is no terminal


def say(text: str) -> None:
    """One line of progress, on stderr."""
    print(f"setup: {text}", file=sys.stderr, flush=True)


def run(
    what: str, argv: list[str], *, cwd: Path | None = None, env: dict[str, str] | None = None
) -> None:
    """Run `argv`; FvmError with the end of its output when it fails.

    On a terminal the latest line of output replaces the one before; elsewhere one line every
    QUIET_SECONDS says that the command is still at work.
    """
    say(what)
    started = shown = time.monotonic()
    tail: collections.deque[str] = collections.deque(maxlen=TAIL_LINES)
    terminal = sys.stderr.isatty()
    try:
        process = subprocess.Popen(
            argv,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=None if terminal else subprocess.DEVNULL,
            text=True,
            errors="replace",
        )
    except OSError as error:
        raise FvmError(f"{what}: {argv[0]} can't be started: {error.strerror}") from error
    with process:
        assert process.stdout is not None
        for line in process.stdout:
            tail.append(line.rstrip())
            now = time.monotonic()
            if terminal:
                width = shutil.get_terminal_size().columns - 1
                print("\r\033[K" + tail[-1][:width], end="", file=sys.stderr, flush=True)
            elif now - shown > QUIET_SECONDS:
                shown = now
                say(f"  ... {now - started:.0f} s")
    if terminal:
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    if process.returncode != 0:
        print("\n".join(tail), file=sys.stderr)
        raise FvmError(f"{what}: {argv[0]} failed with exit status {process.returncode}")
