"""What a program on a machine of QEMU, or a guest of a system, says until it passed or failed."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Sequence


def said_until_passed(command: Sequence[str], who: str, patience: int) -> list[str]:
    """Its lines; in a system, those of the console `who`. A machine may stand still and say
    nothing: it ends after `patience` seconds."""
    seen: list[str] = []
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as process:
        assert process.stdout is not None
        end = threading.Timer(patience, process.kill)
        end.start()
        for line in process.stdout:
            console, _, said = line.rstrip("\n").rpartition("| ")
            if console.strip() == who:
                seen.append(said.strip())
            if "all passed" in line or "FAILED" in line:
                break
            if "rebooted" in line:
                seen.append(line)
                break
        end.cancel()
        process.terminate()
    return seen
