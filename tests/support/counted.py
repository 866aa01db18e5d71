"""Runs without input, in counted instructions: the same image gives the same output every time."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from composer.simulate.log import Record, parse

HYPERVISOR = "hypervisor"
_PATIENCE = 5.0  # seconds of QEMU's processor time; a line is due in less than one
_ENOUGH = 20  # times the patience
_CLOCK = os.sysconf("SC_CLK_TCK")  # of /proc


@dataclass(frozen=True)
class Board:
    """A machine of QEMU: `lines` serial lines, the kernel's log on the one called `console`.

    An instruction takes 2 ** `shift` ns.
    """

    machine: str
    lines: int
    console: int
    shift: int


# USART6 in every description of the tests; with 168 MHz, 62500 instructions a millisecond.
NETDUINO = Board("netduinoplus2", 6, 6, 4)


@dataclass(frozen=True)
class Stat:
    """One line of the kernel's periodic report about a domain."""

    tick: int
    ticks: int
    dropped: int
    restarts: int


@dataclass(frozen=True)
class Fault:
    """One line of the kernel's log about a fault or a reboot. `None` stands for `none`."""

    domain: str
    cause: str
    address: int | None
    pc: int | None
    lr: int | None
    status: int
    thread: str
    restarts: int
    tick: int
    task: str


@dataclass(frozen=True)
class Transcript:
    """All that a system said. `reached` is False if the last kernel tick wasn't reached."""

    reached: bool
    text: Mapping[str, str]
    log: tuple[Record, ...]

    @cached_property
    def faults(self) -> tuple[Fault, ...]:
        """Fault records in order."""
        return tuple(
            Fault(
                r.fields["domain"],
                r.fields["cause"],
                r.number("address"),
                r.number("pc"),
                r.number("lr"),
                _number(r, "cfsr"),
                r.fields["thread"],
                _number(r, "restarts"),
                _number(r, "tick"),
                r.task,
            )
            for r in self.log
            if r.kind == "fault"
        )

    def stats(self, domain: str) -> list[Stat]:
        """Periodic reports about a domain in order."""
        return [
            Stat(*(_number(r, key) for key in ("tick", "ticks", "dropped", "restarts")))
            for r in self.log
            if r.kind == "stat" and r.fields.get("domain") == domain
        ]

    def counts(self, signal: str) -> list[tuple[int, int]]:
        """Kernel tick and count of a signal, in order."""
        return [
            (_number(r, "tick"), _number(r, "count"))
            for r in self.log
            if r.kind == "stat" and r.fields.get("signal") == signal
        ]

    def lines(self, name: str) -> list[str]:
        """Complete lines of a console."""
        return self.text[name].split("\r\n")[:-1]

    def values(self, name: str) -> dict[str, int]:
        """The `key=value` lines of a console; the last value of each key."""
        found = (line.split("=", 1) for line in self.lines(name) if "=" in line)
        return {key: int(value, 0) for key, value in found}


def _number(record: Record, key: str) -> int:
    value = record.number(key)
    assert value is not None, f"no {key} in {record.text!r}"
    return value


def run(
    elf: Path,
    consoles: Mapping[str, int],
    until_tick: int,
    *,
    board: Board = NETDUINO,
    options: tuple[str, ...] = (),
    patience: float = _PATIENCE,
    inspect: Callable[[], None] = lambda: None,
) -> Transcript:
    """Runs until the kernel's periodic report of a tick is complete and the next one begins.

    A report starts with the hypervisor. The run ends, too, when the kernel's log says nothing new
    for some seconds of processor time: the system hangs. `inspect` is called at the end, before
    QEMU's.
    """
    with tempfile.TemporaryDirectory(prefix="fvm-") as folder:
        files = {number: Path(folder) / f"line{number}" for number in range(1, board.lines + 1)}
        arguments = ["qemu-system-arm", "-M", board.machine, "-display", "none"]
        arguments += ["-monitor", "none", "-icount", f"shift={board.shift},sleep=off"]
        arguments += ["-kernel", str(elf), *options]
        for file in files.values():
            arguments += ["-serial", f"file:{file}"]
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            reached = _watch(process, files[board.console], until_tick, patience)
            inspect()
        finally:
            process.kill()
            process.wait()
        text = {n: files[u].read_bytes().decode("latin-1") for n, u in consoles.items()}
        return Transcript(reached, text, tuple(_Log(files[board.console]).read()))


def _watch(
    process: subprocess.Popen[bytes], console: Path, until_tick: int, patience: float
) -> bool:
    """Whether the report that follows the tick has begun; False if the system ended or hangs."""
    log = _Log(console)
    told: set[str] = set()  # a fault that is told for ever is no news
    since, end = 0.0, _ENOUGH * patience  # of one that starts anew for ever
    latest = time.monotonic() + end  # of a QEMU that doesn't run
    while process.poll() is None and (now := _ran(process)) < min(since + patience, end):
        new = log.read()
        if any(
            r.fields.get("domain") == HYPERVISOR and _number(r, "tick") > until_tick
            for r in new
            if r.kind == "stat"
        ):
            return True
        if not told.issuperset(texts := {r.text for r in new}):
            told |= texts
            since, latest = now, time.monotonic() + end
        elif time.monotonic() > latest:
            return False
        time.sleep(0.02)
    return False


def _ran(process: subprocess.Popen[bytes]) -> float:
    """Seconds of processor time that it took: a busy host doesn't hurry it (proc(5))."""
    try:
        fields = Path(f"/proc/{process.pid}/stat").read_text("ascii").rpartition(") ")[2].split()
    except FileNotFoundError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _CLOCK


class _Log:
    """A log that grows."""

    def __init__(self, file: Path) -> None:
        self._file, self._at = file, 0

    def read(self) -> list[Record]:
        """Complete lines that are new."""
        if not self._file.exists():
            return []
        with self._file.open("rb") as file:
            file.seek(self._at)
            *lines, rest = (read := file.read()).split(b"\r\n")
        self._at += len(read) - len(rest)
        return [parse(line.decode("latin-1")) for line in lines]
