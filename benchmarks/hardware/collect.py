"""The table that a board sends over a serial line."""

from __future__ import annotations

import json
import os
import termios
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from scanner.report.errors import FvmError

SPEED = termios.B115200
_MARK = "hw-bench"
_BEGIN, _END = "begin", "end"


@dataclass(frozen=True)
class Row:
    """Cycles of one operation."""

    mean: float
    least: int
    most: int
    samples: int


@dataclass(frozen=True)
class Table:
    """What one image sent; `overhead`: cycles that were subtracted from each sample."""

    side: str
    overhead: int
    rows: dict[str, Row]


def read_table(lines: Iterable[str]) -> Table:
    """The first complete table; FvmError if there is none."""
    side, overhead = "", 0
    rows: dict[str, Row] = {}
    for line in lines:
        words = line.split()
        if len(words) < 2 or words[0] != _MARK:
            continue
        try:
            fields = dict(word.split("=", 1) for word in words[2:])
            if words[1] == _BEGIN:
                side, overhead, rows = fields["side"], int(fields["overhead"]), {}
            elif words[1] == _END and side:
                return Table(side, overhead, rows)
            else:
                rows[words[1]] = Row(
                    int(fields["tenths"]) / 10,
                    int(fields["min"]),
                    int(fields["max"]),
                    int(fields["samples"]),
                )
        except (KeyError, ValueError):
            side = ""  # a line was cut or mangled: wait for the next table
    raise FvmError("no complete table", hint="does the board run, and is its TX pin connected?")


def serial_lines(port: Path) -> Iterator[str]:
    """Lines of a serial port at 115200 baud, or of a file."""
    try:
        # Not waiting for a carrier, which an adapter may never report.
        descriptor = os.open(port, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError as error:
        raise FvmError(f"can't be opened: {error.strerror}", file=port) from error
    if os.isatty(descriptor):
        _set_up(descriptor)
    os.set_blocking(descriptor, True)
    with open(descriptor, "rb", buffering=0) as stream:
        pending = b""
        while data := stream.read(256):
            *complete, pending = (pending + data).split(b"\n")
            for line in complete:
                yield line.decode("ascii", errors="replace").strip()


def _set_up(descriptor: int) -> None:
    """Raw, 8 bits, no parity, one stop bit."""
    state = termios.tcgetattr(descriptor)
    state[0], state[1], state[3] = 0, 0, 0
    state[2] = termios.CS8 | termios.CREAD | termios.CLOCAL
    state[4] = state[5] = SPEED
    state[6][termios.VMIN], state[6][termios.VTIME] = 1, 0
    termios.tcsetattr(descriptor, termios.TCSANOW, state)


def store(tables: Path, table: Table) -> dict[str, Table]:
    """Adds a table to those of the other image."""
    known = json.loads(tables.read_text("utf-8")) if tables.exists() else {}
    known[table.side] = asdict(table)
    tables.parent.mkdir(parents=True, exist_ok=True)
    tables.write_text(json.dumps(known, indent=1) + "\n", "utf-8")
    return {
        side: Table(side, found["overhead"], {n: Row(**r) for n, r in found["rows"].items()})
        for side, found in known.items()
    }


def text(tables: dict[str, Table]) -> Iterator[str]:
    """Both sides beside each other, in cycles."""
    bare, virtual = tables.get("bare"), tables.get("virtual")
    yield f"{'cycles':18}{'bare':>10}{'max':>8}{'virtual':>10}{'max':>8}{'ratio':>8}"
    names = dict.fromkeys(name for table in (bare, virtual) if table for name in table.rows)
    for name in names:
        rows = [table.rows.get(name) if table else None for table in (bare, virtual)]
        cells = "".join(
            f"{row.mean:10.1f}{row.most:8}" if row else f"{'-':>10}{'-':>8}" for row in rows
        )
        one, other = rows
        ratio = f"{other.mean / one.mean:8.2f}" if one and other and one.mean else f"{'-':>8}"
        yield f"{name:18}{cells}{ratio}"
