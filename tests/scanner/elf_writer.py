"""Small ELF files made byte by byte, right or wrong in exactly one place."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

FLASH = 0x08000000
READ_ONLY, READ_EXECUTE, READ_WRITE, READ_WRITE_EXECUTE = 4, 5, 6, 7


@dataclass
class Load:
    """One PT_LOAD entry; sizes default to the data's."""

    address: int
    data: bytes
    flags: int = READ_EXECUTE
    load_address: int | None = None
    file_size: int | None = None
    memory_size: int | None = None


def halfwords(*values: int) -> bytes:
    """Code as the halfwords that the manual prints."""
    return struct.pack(f"<{len(values)}H", *values)


STARTED = Load(0x08100000, halfwords(0xE7FE))
"""A place far from all else where control can go round for ever: a program with it is one."""


@dataclass
class Header:
    """The fields of the ELF header that tests falsify."""

    elf_class: int = 1
    byte_order: int = 1
    kind: int = 2
    machine: int = 40
    program_headers: int | None = None
    section_offset: int = 0
    sections: int = 0
    section_size: int = 40


def write_elf(loads: Sequence[Load], entry: int = 0, header: Header | None = None) -> bytes:
    """A 32-bit Arm program without section headers."""
    header = header or Header()
    count = len(loads) if header.program_headers is None else header.program_headers
    offset = 52 + 32 * len(loads)
    table, body = b"", b""
    for load in loads:
        at = offset + len(body)
        file_size = len(load.data) if load.file_size is None else load.file_size
        memory_size = file_size if load.memory_size is None else load.memory_size
        stored = load.address if load.load_address is None else load.load_address
        fields = (1, at, load.address, stored, file_size, memory_size, load.flags, 4)
        table += struct.pack("<8I", *fields)
        body += load.data
    identity = b"\x7fELF" + bytes([header.elf_class, header.byte_order, 1]) + bytes(9)
    sections = (header.section_size, header.sections, 0)
    fields = (header.kind, header.machine, 1, entry, 52, header.section_offset, 0x05000200)
    return (
        (
            identity
            + struct.pack("<HHIIIII", *fields)
            + struct.pack("<HHHHHH", 52, 32, count, *sections)
        )
        + table
        + body
    )
