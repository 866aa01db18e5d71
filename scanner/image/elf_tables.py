"""The tables of a 32-bit little-endian ELF file (gABI 4.1, chapters 4 and 5), as they stand there.

pyelftools reads them too, but looks a name up by walking to the next zero byte, as far as that may
be, and does so once for each section and each segment: a small file keeps it busy for hours.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

HEADER_BYTES = 52
MAX_SEGMENTS = 1024
MAX_SECTIONS = 16384

_HEADER = struct.Struct("<16xHHIIIIIHHHHHH")
_PROGRAM_HEADER = struct.Struct("<8I")
_SECTION_HEADER = struct.Struct("<10I")
_COMPRESSED_HEADER = struct.Struct("<3I")
_COMPRESSED, _BY_ZLIB = 0x800, 1
_NAME_BYTES = 256
_NULL, _NOBITS = 0, 8


class MalformedError(Exception):
    """The file contradicts itself; the text says where."""


class Header(NamedTuple):
    """The first 52 bytes, less the identification."""

    type: int
    machine: int
    version: int
    entry: int
    program_offset: int
    section_offset: int
    flags: int
    header_size: int
    program_size: int
    program_count: int
    section_size: int
    section_count: int
    names: int


class ProgramHeader(NamedTuple):
    """One entry of the program header table."""

    type: int
    offset: int
    address: int
    load_address: int
    file_size: int
    memory_size: int
    flags: int
    align: int


class Section(NamedTuple):
    """One entry of the section header table."""

    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry_size: int

    def content(self, data: bytes) -> bytes:
        """Its bytes in the file; raises MalformedError where they end outside."""
        check_inside(data, "a section", self.offset, self.size)
        return data[self.offset : self.offset + self.size]

    def unpacked(self, data: bytes, most: int) -> bytes:
        """Its content, unpacked if it is compressed; empty if that fails or is more than `most`."""
        content = self.content(data)
        if not self.flags & _COMPRESSED:
            return content if len(content) <= most else b""
        if len(content) < _COMPRESSED_HEADER.size:
            return b""
        kind, size, _ = _COMPRESSED_HEADER.unpack_from(content)
        if kind != _BY_ZLIB or size > most:
            return b""
        try:
            return zlib.decompressobj().decompress(content[_COMPRESSED_HEADER.size :], size)
        except zlib.error:
            return b""


def read_header(data: bytes) -> Header:
    """The file's header; `data` holds it whole."""
    return Header._make(_HEADER.unpack_from(data))


def program_headers(header: Header, data: bytes) -> Iterator[ProgramHeader]:
    """All of them; raises MalformedError where they can't be."""
    count, size = header.program_count, header.program_size
    if count == 0:
        raise MalformedError("no program headers: not a linked program")
    if count > MAX_SEGMENTS:
        raise MalformedError(f"{count} program headers; at most {MAX_SEGMENTS} are read")
    if size != _PROGRAM_HEADER.size:
        raise MalformedError(f"program headers of {size} bytes, not {_PROGRAM_HEADER.size}")
    offset = header.program_offset
    check_inside(data, "the program header table", offset, count * size)
    table = memoryview(data)[offset : offset + count * size]
    return map(ProgramHeader._make, _PROGRAM_HEADER.iter_unpack(table))


def sections(header: Header, data: bytes) -> list[Section]:
    """All of them, inside the file where they have content; a file may have none."""
    offset, count, size = header.section_offset, header.section_count, header.section_size
    if offset == 0 or count == 0 == header.names:
        return []
    if size != _SECTION_HEADER.size:
        raise MalformedError(f"section headers of {size} bytes, not {_SECTION_HEADER.size}")
    if not 0 < count <= MAX_SECTIONS:
        raise MalformedError(f"{count} section headers; 1 to {MAX_SECTIONS} are read")
    check_inside(data, "the section header table", offset, count * size)
    table = memoryview(data)[offset : offset + count * size]
    found = [Section._make(entry) for entry in _SECTION_HEADER.iter_unpack(table)]
    for number, section in enumerate(found):
        if section.type not in (_NULL, _NOBITS):
            check_inside(data, f"section {number}", section.offset, section.size)
    return found


def by_name(header: Header, found: list[Section], data: bytes) -> dict[bytes, Section]:
    """Sections with content by name, the first of each."""
    if header.names >= len(found):
        return {}
    names = found[header.names]
    end = names.offset + names.size if names.type != _NOBITS else 0
    named: dict[bytes, Section] = {}
    for section in found:
        if section.type not in (_NULL, _NOBITS):
            start = names.offset + section.name
            name = data[start : min(start + _NAME_BYTES, end)].partition(b"\0")[0]
            named.setdefault(name, section)
    return named


def check_inside(data: bytes, what: str, offset: int, size: int) -> None:
    """Raise MalformedError unless the bytes are in the file."""
    if offset + size > len(data):
        raise MalformedError(
            f"{what} ends at byte {offset + size} of a file of {len(data)} bytes: "
            "truncated, or its size lies"
        )
