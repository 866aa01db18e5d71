"""The three files of an image as memory: ELF, Intel HEX, binary. Nothing in them is trusted."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

from composer.verify.findings import Unreadable
from composer.verify.memory import Memory, joined
from scanner.image.elf import load_elf
from scanner.report.errors import MissingError

MAX_FILE = 16 << 20
_DATA, _END, _LINEAR, _START = 0, 1, 4, 5
_UPPER = 16


@dataclass(frozen=True)
class Loaded:
    """What a file says; `entry` None where the format has none."""

    memory: Memory
    entry: int | None


def read_file(path: Path, what: str) -> bytes:
    """Content of a regular file; MissingError when there is none."""
    try:
        if not path.is_file():
            raise MissingError(
                f"there is no such {what}", file=path, hint="name a file that fvmkit link wrote"
            )
        with path.open("rb") as stream:
            data = stream.read(MAX_FILE + 1)
    except OSError as error:
        raise MissingError(f"can't be opened: {error.strerror}", file=path) from None
    if len(data) > MAX_FILE:
        raise MissingError(f"larger than {MAX_FILE >> 20} MiB, which no {what} is", file=path)
    return data


def load(data: bytes, suffix: str, base: int) -> Loaded:
    """The image in a file of that suffix; `base` is where a binary starts. Unreadable if broken."""
    if suffix == ".hex":
        return _hex(data)
    if suffix == ".bin":
        return Loaded(joined([(base, data)]), None)
    return _elf(data)


def _elf(data: bytes) -> Loaded:
    image = load_elf(data)
    if image.problems:
        raise Unreadable(image.problems[0].text)
    for segment in image.segments:
        if segment.memory_size != len(segment.data):
            raise Unreadable(
                f"the segment at 0x{segment.load_address:08x} claims memory that it doesn't store"
            )
        if segment.address != segment.load_address:
            raise Unreadable(f"the segment at 0x{segment.load_address:08x} is to be run elsewhere")
    pieces = ((segment.load_address, bytes(segment.data)) for segment in image.segments)
    return Loaded(joined(pieces), image.entry)


def _hex(data: bytes) -> Loaded:
    upper, entry, ended = 0, None, False
    pieces: list[tuple[int, bytes]] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        text = line.rstrip(b"\r")
        if not text:
            continue
        if ended:
            raise Unreadable(f"line {number}: a record behind the end record")
        kind, address, content = _record(text, number)
        if kind == _DATA:
            if address + len(content) > 1 << _UPPER:
                raise Unreadable(f"line {number}: a record over the end of its 64 KiB")
            pieces.append((upper + address, content))
        elif kind == _END and not content:
            ended = True
        elif kind == _LINEAR and len(content) == 2:
            upper = int.from_bytes(content, "big") << _UPPER
        elif kind == _START and len(content) == 4:
            entry = int(struct.unpack(">I", content)[0])
        else:
            raise Unreadable(f"line {number}: a record of kind {kind}, which link doesn't write")
    if not ended:
        raise Unreadable("no end record: the file is cut short")
    return Loaded(joined(pieces), entry)


def _record(text: bytes, number: int) -> tuple[int, int, bytes]:
    """Kind, address and content of a line."""
    try:
        record = bytes.fromhex(text[1:].decode("ascii")) if text[:1] == b":" else b""
    except ValueError:
        record = b""
    if len(record) < 5 or len(record) != 5 + record[0] or b" " in text:
        raise Unreadable(f"line {number}: no Intel HEX record")
    if sum(record) & 0xFF:
        raise Unreadable(f"line {number}: the sum of the record is wrong")
    return record[3], int.from_bytes(record[1:3], "big"), record[4:-1]
