"""Intel HEX: lines `:LLAAAATT<data>CC` (Intel, Hexadecimal Object File Format Specification, 1988).

Where loaders are known to differ (a record over the end of its 64 KiB, anything behind the end
record, bytes that are given twice) the file is refused: what reaches the chip would depend on
which of them is used. A second start record changes no byte of it: the program may begin at both.
Lines that begin with `;` are comments, as assemblers and editors write them.
"""

from __future__ import annotations

from dataclasses import replace

from scanner.image.model import Image, UntrustedError
from scanner.image.placed import PlacedBytes
from scanner.image.text_records import decode, numbered_lines
from scanner.image.universal_hex import ARCH, OTHER, START, Sections

_MALFORMED, _CHECKSUM = "hex-malformed", "hex-checksum"
_DATA, _END, _SEGMENT, _SEGMENT_START, _LINEAR, _LINEAR_START = range(6)
_LENGTHS = {_END: 0, _SEGMENT: 2, _SEGMENT_START: 4, _LINEAR: 2, _LINEAR_START: 4}
_BANK = 1 << 16


def load_hex(data: bytes) -> Image:
    """Read a file; raises UntrustedError with the line that can't be trusted."""
    memory = PlacedBytes(_MALFORMED, "hex-overlap")
    base = 0
    starts: dict[int, int] = {}
    ended = False
    sections = Sections()
    for number, line in numbered_lines(data, comment=b";"):
        if ended:
            raise UntrustedError(_MALFORMED, f"line {number}: a record behind the end record")
        kind, address, content = _record(line, number)
        if kind == _DATA or kind >= START:
            if not sections.takes(kind, content, number):
                continue
            if address + len(content) > _BANK:
                text = f"line {number}: a record over the end of its 64 KiB, which loaders wrap"
                raise UntrustedError(_MALFORMED, f"{text} or carry on as they like")
            memory.place(base + address, content)
        elif kind == _END:
            ended = True
        elif kind in (_SEGMENT, _LINEAR):
            base = int.from_bytes(content, "big") << (4 if kind == _SEGMENT else 16)
        else:
            starts[_start(kind, content)] = number
    if not ended:
        raise UntrustedError(_MALFORMED, "no end record: the file is cut short")
    first, *more = starts or (0,)
    image = memory.image(first or None, ARCH if sections.are_there else None)
    return replace(
        image, more_entries=tuple(more), problems=(*image.problems, *sections.problems())
    )


def _record(line: bytes, number: int) -> tuple[int, int, bytes]:
    """Kind, 16-bit address and content."""
    record = decode(line[1:]) if line[:1] == b":" else None
    if record is None or len(record) < 5 or len(record) != 5 + record[0]:
        raise UntrustedError(_MALFORMED, f"line {number}: no Intel HEX record, or a cut one")
    if sum(record) & 0xFF:
        raise UntrustedError(_CHECKSUM, f"line {number}: the sum of the record is wrong")
    kind, content = record[3], record[4:-1]
    if _LINEAR_START < kind < START or kind > OTHER:
        raise UntrustedError(_MALFORMED, f"line {number}: a record of unknown kind {kind}")
    if len(content) != _LENGTHS.get(kind, len(content)):
        raise UntrustedError(_MALFORMED, f"line {number}: {len(content)} bytes of kind {kind}")
    return kind, int.from_bytes(record[1:3], "big"), content


def _start(kind: int, content: bytes) -> int:
    if kind == _LINEAR_START:
        return int.from_bytes(content, "big")
    return (int.from_bytes(content[:2], "big") << 4) + int.from_bytes(content[2:], "big")
