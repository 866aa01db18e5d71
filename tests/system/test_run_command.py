"""What a user sees on the terminal of `fvmkit run` when a VM misbehaves."""

from __future__ import annotations

import signal
import subprocess
from typing import IO

from tests.support.example import MOTOR, SENSOR
from tests.system.live import PATIENCE
from tests.system.road import COUNTED, FVMKIT, Road
from tests.system.test_containment import EVENTS, line_of


def read_until(stream: IO[str], lines: list[str], wanted: list[str]) -> None:
    """Adds lines of the stream until each of the wanted texts has come; they are then gone."""
    for line in stream:
        lines.append(line.rstrip("\n"))
        wanted[:] = [text for text in wanted if text not in line]
        if not wanted:
            return
    raise AssertionError(f"{wanted} never came: {lines}")


def test_a_crash_on_the_terminal(road: Road) -> None:
    address = road.built.memory(SENSOR, "ram").start
    ready = f"{MOTOR} | ready"
    lines: list[str] = []
    with subprocess.Popen(
        [FVMKIT, "run", road.out.name, "--icount", COUNTED[1], "--timeout", str(PATIENCE)],
        cwd=road.room, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
    ) as process:  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        read_until(process.stdout, lines, [ready])
        process.stdin.write(f"{MOTOR}: crash {address:x}\n")
        read_until(process.stdout, lines, [ready, " rebooted "])
        process.send_signal(signal.SIGINT)
    assert process.returncode == 0
    kernel = f"{'kernel':{len(MOTOR)}}"
    assert [line for line in lines if " rebooted " in line] == [
        f"{kernel} | {MOTOR} rebooted (1): write to 0x{address:08x} [{SENSOR} RAM], "
        f'crash_cmd console.c:{line_of(road, MOTOR, EVENTS["crash"])}, task "console"'
    ]
