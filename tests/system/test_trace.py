"""`fvmkit run --trace` on the migrated system."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from tests.support.example import MOTOR, SENSOR
from tests.system.live import PATIENCE
from tests.system.road import COUNTED, FVMKIT, Road, fvmkit
from tests.system.test_run_command import read_until

ENDINGS = ("html", "json", "svg", "txt")


@pytest.fixture(scope="module")
def traced(road: Road, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What a run in which motor-controller crashes printed, and the folder of its traces."""
    folder = tmp_path_factory.mktemp("my traces")
    address = road.built.memory(SENSOR, "ram").start
    ready = f"{MOTOR} | ready"
    wishes = [word for ending in ENDINGS for word in ("--trace", folder / f"run.{ending}")]
    lines: list[str] = []
    with subprocess.Popen(
        [FVMKIT, "run", road.out.name, "--icount", COUNTED[1], "--timeout", str(PATIENCE),
         "--verbose", *wishes],
        cwd=road.room, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
    ) as process:  # fmt: skip
        assert process.stdin is not None and process.stdout is not None
        read_until(process.stdout, lines, [ready])
        process.stdin.write(f"{MOTOR}: crash {address:x}\n")
        read_until(process.stdout, lines, [ready, " rebooted ", " | fvm: fault "])
        process.terminate()
        lines += process.stdout.read().splitlines()
    assert process.returncode == 0
    return "\n".join(lines), folder


def document(folder: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((folder / "run.json").read_text())
    return value


def lanes(events: list[Mapping[str, Any]]) -> dict[str, int]:
    return {e["args"]["name"]: e["tid"] for e in events if e["name"] == "thread_name"}


def test_the_numbers_are_told_at_the_end(traced: tuple[str, Path]) -> None:
    said, folder = traced
    numbers = document(folder)["fvmkit"]
    shares = {share["name"]: share["instructions"] for share in numbers["shares"]}
    assert sum(shares.values()) == numbers["instructions"]
    assert list(shares)[:2] == ["kernel", "hypervisor"]
    assert min(shares.values()) > 0
    assert numbers["stops"] == numbers["restarts"] == 1
    assert f"{numbers['instructions']:,} instructions" in said
    assert f"longest kernel path: {numbers['longest_path']['longest']:,} instructions" in said


def test_every_lane_is_used_and_nobody_runs_twice(traced: tuple[str, Path]) -> None:
    events = document(traced[1])["traceEvents"]
    slices = sorted((e["ts"], e["dur"], e["tid"], e["name"]) for e in events if e["ph"] == "X")
    for (start, length, *_), (following, *_) in pairwise(slices):
        assert start + length == following
    rows = {(tid, name) for _, _, tid, name in slices}
    lane = lanes(events)
    for name in (MOTOR, SENSOR):
        assert {(lane[name], "VCT"), (lane[name], "USR")} <= rows
    assert (lane["hypervisor"], "idle") in rows


def marks(events: list[Mapping[str, Any]], kind: str) -> list[tuple[int, int, str]]:
    return [(e["ts"], e["tid"], e["name"]) for e in events if e.get("cat") == kind]


def test_the_crash_is_in_its_lane_between_interrupt_and_restart(traced: tuple[str, Path]) -> None:
    events = document(traced[1])["traceEvents"]
    lane = next(
        e["tid"] for e in events if e["name"] == "thread_name" and e["args"]["name"] == MOTOR
    )
    (stop,) = marks(events, "crime")
    (restart,) = marks(events, "restart")
    assert stop[1] == restart[1] == lane
    assert stop[0] < restart[0]
    assert stop[2].startswith(f"{MOTOR} rebooted (1): write to 0x")
    lines = [name for at, _, name in marks(events, "line") if at < stop[0]]
    assert len(lines) >= len("crash 20000000\r")
    assert all("interrupt USART1" in name for name in lines)


def test_every_hypercall_has_a_name(traced: tuple[str, Path]) -> None:
    names = {name for _, _, name in marks(document(traced[1])["traceEvents"], "call")}
    assert {"hypercall vct_wait", "hypercall wdg_clr", "hypercall signal_wait"} <= names
    assert "hypercall call" not in names


def test_what_was_on_the_terminal_can_be_decoded(traced: tuple[str, Path], road: Road) -> None:
    said, folder = traced
    dump = folder / "copied from the terminal.txt"
    dump.write_text(said)
    decoded = fvmkit("decode", dump, "--system", road.out, cwd=folder)
    sentence = next(line for line in said.splitlines() if " rebooted (1): " in line)
    assert decoded.status == 0
    assert decoded.out.splitlines()[0] == sentence.partition(" | ")[2]


def test_picture_page_and_text_show_the_crash(traced: tuple[str, Path]) -> None:
    _, folder = traced
    sentence = f"{MOTOR} rebooted (1): write to"
    picture = etree.parse(folder / "run.svg")
    titles = [element.text or "" for element in picture.iter("{http://www.w3.org/2000/svg}title")]
    assert any(sentence in title for title in titles)
    for ending in ("html", "txt"):
        assert sentence in (folder / f"run.{ending}").read_text()
