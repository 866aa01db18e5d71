"""Motorola S-records: lines `STLL<address><data>CC` (M68000 Family Programmer's Reference, App. C).

As with Intel HEX, what loaders are known to read differently is refused.
"""

from __future__ import annotations

from scanner.image.model import Image, UntrustedError
from scanner.image.placed import PlacedBytes
from scanner.image.text_records import decode, numbered_lines

_MALFORMED, _CHECKSUM = "srec-malformed", "srec-checksum"
_ADDRESS_BYTES = {"0": 2, "1": 2, "2": 3, "3": 4, "5": 2, "6": 3, "7": 4, "8": 3, "9": 2}
_DATA, _COUNTS, _ENDS = "123", "56", "789"


def load_srec(data: bytes) -> Image:
    """Read a file; raises UntrustedError with the line that can't be trusted."""
    memory = PlacedBytes(_MALFORMED, "srec-overlap")
    start: int | None = None
    count = 0
    for number, line in numbered_lines(data):
        if start is not None:
            raise UntrustedError(_MALFORMED, f"line {number}: a record behind the end record")
        kind, address, content = _record(line, number)
        if kind in _DATA:
            memory.place(address, content)
            count += 1
        elif content and kind != "0":
            raise UntrustedError(_MALFORMED, f"line {number}: data in a record of kind S{kind}")
        elif kind in _COUNTS and address != count & (1 << 8 * _ADDRESS_BYTES[kind]) - 1:
            text = f"line {number}: {address} records are announced, {count} are there"
            raise UntrustedError(_MALFORMED, text)
        elif kind in _ENDS:
            start = address
    if start is None:
        raise UntrustedError(_MALFORMED, "no end record (S7, S8, S9): the file is cut short")
    return memory.image(start or None)


def _record(line: bytes, number: int) -> tuple[str, int, bytes]:
    """Kind, address and content."""
    kind = line[1:2].decode("ascii", "replace")
    record = decode(line[2:]) if line[:1] == b"S" else None
    width = _ADDRESS_BYTES.get(kind)
    if record is None or width is None or len(record) < width + 2 or len(record) != 1 + record[0]:
        raise UntrustedError(_MALFORMED, f"line {number}: no S-record, or a cut one")
    if sum(record) & 0xFF != 0xFF:
        raise UntrustedError(_CHECKSUM, f"line {number}: the sum of the record is wrong")
    return kind, int.from_bytes(record[1 : 1 + width], "big"), record[1 + width : -1]
