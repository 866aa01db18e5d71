"""Runs in counted instructions under the tracer: what was said, and how long the kernel took."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from composer.image.composed import read_composed
from composer.simulate.shared import Kind
from composer.simulate.tracer import Trace, Tracer
from tests.support.built import Built

_PATIENCE = 120.0  # seconds of the host


def watched(
    system: Built, image: Path, folder: Path, ticks: int, machine: str = "netduinoplus2"
) -> tuple[list[str], Trace]:
    """What the first serial line said in so many kernel ticks, and the counted run."""
    said = folder / "said"
    with Tracer(read_composed(system.folder)) as tracer:
        process = subprocess.Popen(
            ["qemu-system-arm", "-M", machine, "-display", "none", "-monitor", "none",
             "-icount", "shift=4,sleep=off", "-kernel", str(image), "-serial", f"file:{said}",
             *tracer.arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            until = time.monotonic() + _PATIENCE
            while tracer.read().happened[Kind.TICK] < ticks:
                assert process.poll() is None and time.monotonic() < until
                time.sleep(0.05)
        finally:
            process.kill()
            process.wait()
        return said.read_text().split("\n")[:-1], tracer.read()
