"""A recorded run can be replayed as often as one likes, byte for byte."""

from __future__ import annotations

import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.console import Console, is_end_of_answer
from tests.support.example import CONSOLES, MOTOR, SENSOR
from tests.support.machine import Machine
from tests.system.live import KERNEL, KERNEL_CONSOLE, PATIENCE
from tests.system.road import COUNTED, FVMKIT, Road

pytestmark = pytest.mark.campaign

LINES = {**CONSOLES, KERNEL: KERNEL_CONSOLE}
REPLAYS = 2
PAUSE = 0.02  # seconds a typed character: while QEMU records, it doesn't wait for the firmware


def test_two_replays_of_a_run(road: Road, tmp_path: Path) -> None:
    """QEMU gives no input to a machine that it records with sleep=off."""

    def run(mode: str, until: bytes | None = None) -> dict[str, bytes]:
        icount = f"{COUNTED[1]},rr={mode},rrfile={tmp_path / 'recording'}"
        files = {name: tmp_path / f"{mode} {name}" for name in LINES}
        words = [word for n, file in files.items() for word in ("--serial", f"{n}=file:{file}")]
        command = [str(FVMKIT), "run", road.out.name, "--icount", icount, *words]
        command += ["--timeout", str(PATIENCE)]
        with subprocess.Popen(command, cwd=road.room, stdin=subprocess.DEVNULL) as process:
            while until is not None and process.poll() is None:
                if files[KERNEL].exists() and until in files[KERNEL].read_bytes():
                    process.send_signal(signal.SIGINT)
                    break
                time.sleep(0.1)
        assert process.returncode == 0
        return {name: file.read_bytes() for name, file in files.items()}

    recorded = run("record", until=b"signal=beat count=20")
    assert b"signal=beat count=20" in recorded[KERNEL]  # after 2000 ticks
    assert all(recorded[name].endswith(b"ready\r\n") for name in CONSOLES)
    for _ in range(REPLAYS):
        assert run("replay") == recorded


def test_two_replays_of_a_conversation_with_a_crash(road: Road, tmp_path: Path) -> None:
    def counted(mode: str) -> tuple[str, str]:
        return "-icount", f"shift=4,rr={mode},rrfile={tmp_path / 'recording'}"

    elf = road.built.elf
    address = road.built.memory(SENSOR, "ram").start
    with ThreadPoolExecutor() as pool, Machine(elf, LINES, options=counted("record")) as machine:
        motor, sensor, kernel = (machine.console[name] for name in (MOTOR, SENSOR, KERNEL))
        pool.submit(kernel.read_to_end, PATIENCE)
        motor.wait_ready(PATIENCE)
        sensor.wait_ready(PATIENCE)
        type_slowly(motor, "set speed 1200", "ok")
        type_slowly(sensor, "status", "ok")
        type_slowly(motor, f"crash {address:x}", "ready")
        type_slowly(sensor, "link", "ok")
        end = time.monotonic() + PATIENCE
        while b"fault domain=motor-controller cause=memory" not in kernel.received:
            assert time.monotonic() < end
            time.sleep(0.1)
        machine.terminate()
        recorded = machine.read_to_end(PATIENCE)
    for _ in range(REPLAYS):
        with Machine(elf, LINES, options=counted("replay")) as machine:
            assert machine.read_to_end(PATIENCE) == recorded


def type_slowly(console: Console, command: str, last: str) -> None:
    """Types a command until its answer ends so: a character may be lost now and then."""
    end = time.monotonic() + PATIENCE
    lines: list[str] = []
    while lines[-1:] != [last]:
        assert time.monotonic() < end, lines
        for character in f"{command}\r".encode():
            console.send(bytes([character]))
            time.sleep(PAUSE)
        try:
            lines = console.read_until(is_end_of_answer, 5.0)
        except TimeoutError:
            lines = []
