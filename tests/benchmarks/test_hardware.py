"""The benchmark for a board: both images measure every operation and send a table to read back.
QEMU has no cycle counter: bare metal reads 0 there, a machine the kernel's clock."""

from __future__ import annotations

import os
import subprocess
import termios
import time
from pathlib import Path

import pytest

from benchmarks.hardware.build import Built, build
from benchmarks.hardware.collect import Row, Table, read_table, serial_lines, store, text
from scanner.report.errors import FvmError
from tests.benchmarks.alone import alone

ROUNDS = 60
WAIT = 60  # seconds of the host
COMMON = {
    "ctx", "ctx_fp", "ctx_p", "ntf", "sem", "msg", "ntf_i", "sem_i", "msg_i", "ntf_t", "sem_t",
    "msg_t", "handler",
}  # fmt: skip
VIRTUAL = COMMON | {"mask", "call_kernel", "call_hypervisor"}


@pytest.fixture(scope="module")
def built() -> Built:
    with alone("hw-bench"):
        return build(8, ROUNDS)


def run(elf: Path, log: Path) -> Table:
    """The table that an image sends over its first serial line."""
    arguments = ["qemu-system-arm", "-M", "netduinoplus2", "-display", "none", "-monitor", "none"]
    arguments += ["-kernel", str(elf), "-icount", "shift=4,sleep=off", "-serial", f"file:{log}"]
    process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + WAIT
        while time.monotonic() < end and process.poll() is None:
            time.sleep(0.2)
            if log.exists() and b"hw-bench end" in log.read_bytes():
                break
    finally:
        process.kill()
        process.wait()
    return read_table(serial_lines(log))


@pytest.mark.campaign
def test_bare_metal_measures_every_operation(built: Built, tmp_path: Path) -> None:
    table = run(built.bare.elf, tmp_path / "log")
    assert table.side == "bare"
    assert table.rows.keys() == COMMON
    assert min(row.samples for row in table.rows.values()) >= ROUNDS - 10


@pytest.mark.campaign
def test_a_machine_measures_every_operation(built: Built, tmp_path: Path) -> None:
    table = run(built.virtual.elf, tmp_path / "log")
    assert table.side == "virtual"
    assert table.rows.keys() == VIRTUAL
    means = {name: row.mean for name, row in table.rows.items()}
    assert means["mask"] < means["ctx"] < means["ctx_p"] < means["ntf_i"] < means["ntf_t"]
    assert means["call_kernel"] < means["call_hypervisor"]
    assert means["handler"] < means["ntf_t"]


GOOD = ["hw-bench begin side=bare overhead=4", "hw-bench ctx tenths=645 min=60 max=70 samples=9"]


def test_a_table_that_began_before_is_not_taken() -> None:
    lines = ["x tenths=1", "hw-bench sem tenths=9 min=1 max=1 samples=1", "hw-bench end", *GOOD]
    assert read_table([*lines, "noise", "hw-bench end"]) == Table(
        "bare", 4, {"ctx": Row(64.5, 60, 70, 9)}
    )


def test_a_mangled_line_spoils_its_table() -> None:
    mangled = [GOOD[0], "hw-bench ctx tenths=6\x0045 min=60 max=70 samples=9", "hw-bench end"]
    with pytest.raises(FvmError, match="no complete table"):
        read_table(mangled)
    assert read_table([*mangled, *GOOD, "hw-bench end"]).rows.keys() == {"ctx"}


def test_a_serial_port_is_read_raw() -> None:
    ours, theirs = os.openpty()
    lines = serial_lines(Path(os.ttyname(theirs)))
    os.write(ours, "".join(f"{line}\r\n" for line in ["", *GOOD, "hw-bench end"]).encode())
    try:
        assert next(lines) == ""
        assert read_table(lines).side == "bare"
        state = termios.tcgetattr(theirs)
        assert state[4] == state[5] == termios.B115200
        assert not state[3] & (termios.ECHO | termios.ICANON)
    finally:
        os.close(ours)
        os.close(theirs)


def test_both_sides_are_kept_and_compared(tmp_path: Path) -> None:
    results = tmp_path / "new" / "hardware.json"
    store(results, Table("bare", 4, {"ctx": Row(100.0, 90, 110, 9)}))
    tables = store(results, Table("virtual", 9, {"ctx": Row(150.0, 90, 110, 9)}))
    assert any(
        line.split() == ["ctx", "100.0", "110", "150.0", "110", "1.50"] for line in text(tables)
    )
