"""Programs made to keep the scanner busy: bounded time, whatever they repeat."""

from __future__ import annotations

import struct

import pytest

from scanner.policy import Policy
from scanner.scan import scan_bytes

BASE = 0x20000000
SIZE = 1 << 19


def code(*instructions: int) -> bytes:
    """Narrow and wide instructions as bytes."""
    return b"".join(struct.pack("<I" if i & 3 == 3 else "<H", i) for i in instructions)


SWITCH = (0x3FE57513, 0x20060737, 0x00070713, 0x050A, 0x953A, 0x4108, 0x8502, 0x0001)
"""ANDI bounds a0, LUI and ADDI make a table's address, C.LW and C.JR go where it says."""

FLOODS = {
    "accesses to user registers": code(0x80059073),
    "set-ups of traps": code(0x00000297, 0x30529073),
    "calls of pairs": code(0x00000097, 0x008080E7),
    "calls by pointer": code(0x4108, 0x9502),
    "constants": code(0x02004537),
    "accesses": code(0x02004537, 0x00B52023),
    "branches": code(0xC011),
    "own instructions": code(0x0000000B),
    "encodings of 48 bits": code(0x001F),
    "zeros": b"\0\0",
    "switches": code(*SWITCH),
}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_takes_bounded_time(name: str) -> None:
    unit = FLOODS[name]
    count = 0x60000 // len(unit)
    body = (unit * (SIZE // len(unit)))[:0x60000].ljust(0x60000, b"\1")
    table = [BASE + number * 37 % count * len(unit) for number in range(1024)]
    data = body + struct.pack("<1024I", *table)
    report = scan_bytes(data, "x.bin", Policy(), arch="rv32imac", base=BASE, entries=[BASE])
    assert report.verdict in ("accept", "warn", "reject")
    assert len(report.findings) < 5000


def test_every_halfword_is_decoded_somehow() -> None:
    """All first halfwords before a few second ones, one behind the other."""
    for second in (0x0000, 0xFFFF, 0x8005, 0x3020):
        data = b"".join(struct.pack("<HH", first, second) for first in range(0x10000))
        report = scan_bytes(data, "x.bin", Policy(), arch="rv32imafc", base=BASE)
        assert report.arch == "rv32imafc"
