"""What is fuzzed: a function a loader, and the whole scan. Each takes any bytes and must return.

Sums in the way of a mutation (checksums, block numbers) are made right from the input, or else
nothing behind them would ever be reached.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from itertools import pairwise

from scanner.arch.registry import ARCHITECTURES
from scanner.image.load import load_image
from scanner.image.model import Image
from scanner.policy import Grant, Policy
from scanner.scan import scan_bytes

VERDICTS = ("accept", "warn", "reject")
_BASE = 0x08000000


class WrongError(Exception):
    """Something that must hold of every input does not."""


def elf(data: bytes) -> None:
    """An ELF file as it is."""
    _sound(load_image(b"\x7fELF" + data[4:]))


def text(data: bytes) -> None:
    """Intel HEX or S-records as they are."""
    for first in (b":", b"S"):
        _sound(load_image(first + data))


def hex_records(data: bytes) -> None:
    """Intel HEX whose lengths and sums are right."""
    lines = []
    for kind, address, content in _records(data):
        body = struct.pack(">BHB", len(content), address & 0xFFFF, kind % 7) + content
        lines.append(b":" + (body + bytes([-sum(body) & 0xFF])).hex().encode())
    _sound(load_image(b"\n".join([*lines, b":00000001FF"])))


def srec_records(data: bytes) -> None:
    """S-records whose lengths and sums are right."""
    lines = []
    for kind, address, content in _records(data):
        digit = kind % 7
        width = (2, 2, 3, 4, 2, 2, 3)[digit]
        place = (address & ((1 << 8 * width) - 1)).to_bytes(width, "big")
        body = bytes([width + len(content) + 1]) + place + content
        lines.append(b"S%d" % digit + (body + bytes([~sum(body) & 0xFF])).hex().encode())
    _sound(load_image(b"\n".join([*lines, b"S9030000FC"])))


def uf2(data: bytes) -> None:
    """UF2 blocks with right magic numbers; the numbering is right unless the input is odd."""
    records = list(_records(data))
    blocks = []
    for number, (kind, address, content) in enumerate(records):
        flags = (0x2000, 0, 1, 0x1000)[kind % 4]
        place = number ^ kind >> 7
        head = (flags, address, len(content), place, len(records), 0x57755A57 + (kind >> 4 & 1))
        block = struct.pack("<8s6I", b"UF2\nWQ]\x9e", *head) + content.ljust(476, b"\0")
        blocks.append(block + b"\x30\x6f\xb1\x0a")
    _sound(load_image(b"".join(blocks)))


def formats_agree(data: bytes) -> None:
    """The same bytes, cut anywhere, are the same memory in every format."""
    if len(data) < 4:
        return
    size, content = data[0] % 60 + 1, data[1:]
    pieces = [(_BASE + n, content[n : n + size]) for n in range(0, len(content), size)]
    if len(content) > 1 << 15:
        return
    lines, records, blocks = [b":020000040800F2"], [], []
    for number, (address, piece) in enumerate(pieces):
        body = struct.pack(">BHB", len(piece), address & 0xFFFF, 0) + piece
        lines.append(b":" + (body + bytes([-sum(body) & 0xFF])).hex().encode())
        body = struct.pack(">BI", len(piece) + 5, address) + piece
        records.append(b"S3" + (body + bytes([~sum(body) & 0xFF])).hex().encode())
        head = struct.pack("<8s6I", b"UF2\nWQ]\x9e", 0, address, len(piece), number, len(pieces), 0)
        blocks.append(head + piece.ljust(476, b"\0") + b"\x30\x6f\xb1\x0a")
    read = [
        load_image(b"\n".join([*lines, b":00000001FF"])),
        load_image(b"\n".join([*records, b"S70500000000FA"])),
        load_image(b"".join(blocks)),
        Image(segments=load_image(b"\0\0" + content, base=_BASE - 2).segments),
    ]
    contents = [bytes(image.segments[0].data) for image in read]
    if any(one != content for one in contents[:3]) or contents[3] != b"\0\0" + content:
        raise WrongError("formats disagree")


def scan_elf(data: bytes) -> None:
    """The whole scan of an ELF file, for any core."""
    if data:
        _scan(b"\x7fELF" + data[5:], data[0])


def scan_code(data: bytes) -> None:
    """The whole scan of code without any file around it, for any core."""
    if len(data) > 1:
        _scan(data[2:], data[0], _BASE + 2 * (data[1] & 1))


TARGETS: dict[str, Callable[[bytes], None]] = {
    target.__name__: target
    for target in (
        elf,
        text,
        hex_records,
        srec_records,
        uf2,
        formats_agree,
        scan_elf,
        scan_code,
    )
}


def _scan(data: bytes, choice: int, base: int | None = None) -> None:
    grants = (Grant("flash", "code", _BASE, 1 << 20), Grant("UART", "device", 0x40011000, 1024))
    policy = Policy(domain="vm", fpu=bool(choice & 0x80), grants=grants if choice & 0x40 else None)
    arch = ARCHITECTURES[choice % len(ARCHITECTURES)]
    report = scan_bytes(data, "x", policy, arch, base=base)
    if report.verdict not in VERDICTS:
        raise WrongError(report.verdict)


def _records(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """Kind, address and content of records that the input describes."""
    position = 0
    while position + 6 <= len(data):
        kind, size, address = struct.unpack_from("<BBI", data, position)
        yield kind, address, data[position + 6 : position + 6 + size % 250]
        position += 6 + size % 250


def _sound(image: Image) -> None:
    """A program that is not refused has segments that don't overlap, inside of 32 bits."""
    if image.problems:
        return
    spans = sorted((segment.address, segment.end) for segment in image.segments)
    if not spans or spans[-1][1] > 1 << 32:
        raise WrongError("accepted without sense")
    for (_, end), (start, _) in pairwise(spans):
        if start < end:
            raise WrongError("accepted with an overlap")
