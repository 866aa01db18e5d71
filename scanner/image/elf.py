"""ELF programs, trusting no number in them: each is checked against the file before it is used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from scanner.image.attributes import arm_architecture
from scanner.image.debug_entries import FORM_LINE_STRP, FORM_STRP, DebugSections
from scanner.image.elf_sections import section_problems
from scanner.image.elf_tables import (
    HEADER_BYTES,
    MalformedError,
    ProgramHeader,
    Section,
    by_name,
    check_inside,
    program_headers,
    read_header,
    sections,
)
from scanner.image.lines import LineTable
from scanner.image.model import Image, Problem, Segment
from scanner.image.riscv_attributes import riscv_architecture
from scanner.image.segments import segment_problems
from scanner.image.symbols import SymbolTable, printable
from scanner.image.toolchain import toolchain

_SYMBOL_BYTES = 16
_MAX_SYMBOLS = 1 << 20
_MAX_UNPACKED = 32 << 20
_MAX_CODE = 32 << 20
_EXECUTE, _WRITE = 1, 2
_LOAD, _SYMBOL_TABLE = 1, 2
_RELOCATABLE, _EXECUTABLE = 1, 2
_ALLOCATED = 2
_COMMENT = b".comment"
_ARM, _RISCV = 40, 243
_ATTRIBUTES = {
    _ARM: (b".ARM.attributes", arm_architecture),
    _RISCV: (b".riscv.attributes", riscv_architecture),
}
"""For each ELF machine that is read, the section that tells its architecture, and its reader."""


def is_elf(data: bytes) -> bool:
    """Whether the file claims to be ELF."""
    return data[:4] == b"\x7fELF"


def is_object(data: bytes) -> bool:
    """Whether the file claims to be ELF that is not linked yet."""
    order: Literal["big", "little"] = "big" if data[5:6] == b"\2" else "little"
    return is_elf(data) and int.from_bytes(data[16:18], order) == _RELOCATABLE


def load_elf(data: bytes) -> Image:
    """Read a program; whatever is wrong with it becomes a problem of the image, never an error."""
    foreign = _foreign(data)
    if foreign is not None:
        return Image(problems=(foreign,))
    header = read_header(data)
    try:
        segments = _segments(program_headers(header, data), data)
        table = sections(header, data)
        symbols = _symbols(table, data)
    except MalformedError as error:
        return Image(problems=(Problem("elf-malformed", str(error)),))
    entry = header.entry or None
    problems = [*segment_problems(segments, entry), *section_problems(table, segments)]
    if header.type != _EXECUTABLE:
        problems.append(Problem("elf-malformed", "not a program linked to fixed addresses"))
    named = by_name(header, table, data)

    def unpacked(part: bytes) -> bytes:
        return named[part].unpacked(data, _MAX_UNPACKED) if part in named else b""

    name, architecture_of = _ATTRIBUTES[header.machine]
    return Image(
        machine=header.machine,
        arch=architecture_of(named[name].content(data)) if name in named else None,
        entry=entry,
        segments=segments,
        symbols=symbols,
        lines=LineTable(
            unpacked(b".debug_line"),
            unpacked(b".debug_line_str"),
            unpacked(b".debug_str"),
            debug=lambda: DebugSections(
                unpacked(b".debug_info"),
                unpacked(b".debug_abbrev"),
                {FORM_STRP: unpacked(b".debug_str"), FORM_LINE_STRP: unpacked(b".debug_line_str")},
                unpacked(b".debug_str_offsets"),
                unpacked(b".debug_addr"),
                unpacked(b".debug_ranges"),
                unpacked(b".debug_rnglists"),
            ),
        ),
        problems=tuple(problems),
        toolchain=toolchain(named[_COMMENT].content(data)) if _COMMENT in named else (),
        sections={
            printable(title): range(section.address, section.address + section.size)
            for title, section in named.items()
            if section.flags & _ALLOCATED
        },
    )


def _foreign(data: bytes) -> Problem | None:
    """A file that no scan makes sense for."""
    if not is_elf(data):
        return Problem("elf-malformed", "not an ELF file")
    if len(data) < HEADER_BYTES:
        return Problem("elf-malformed", f"truncated: {len(data)} bytes end inside the ELF header")
    if data[4] != 1:
        return Problem("wrong-machine", "not a 32-bit program")
    if data[5] != 1:
        return Problem("wrong-machine", "not a little-endian program")
    machine = int.from_bytes(data[18:20], "little")
    if machine not in _ATTRIBUTES:
        text = f"ELF machine {machine} is no core that the rules know"
        return Problem("wrong-machine", text)
    if is_object(data):
        return Problem("elf-malformed", "an object file: its addresses are not known before a link")
    return None


def _segments(headers: Iterable[ProgramHeader], data: bytes) -> tuple[Segment, ...]:
    view = memoryview(data)
    segments = []
    for number, header in enumerate(headers):
        if header.type != _LOAD or header.memory_size == 0 == header.file_size:
            continue
        if header.file_size:  # linkers give an empty one an offset that may be behind the file
            check_inside(data, f"segment {number}", header.offset, header.file_size)
        segments.append(
            Segment(
                address=header.address,
                load_address=header.load_address,
                data=view[header.offset : header.offset + header.file_size],
                memory_size=header.memory_size,
                offset=header.offset,
                executable=bool(header.flags & _EXECUTE),
                writable=bool(header.flags & _WRITE),
            )
        )
    if sum(len(segment.data) for segment in segments) > 2 * len(data):
        raise MalformedError("the segments claim the same bytes of the file over and over")
    if sum(len(segment.data) for segment in segments if segment.executable) > _MAX_CODE:
        raise MalformedError(
            f"more than {_MAX_CODE >> 20} MiB of code: not a microcontroller's program"
        )
    return tuple(segments)


def _symbols(table: list[Section], data: bytes) -> SymbolTable | None:
    symbols = next((section for section in table if section.type == _SYMBOL_TABLE), None)
    if symbols is None:
        return None
    if symbols.entry_size != _SYMBOL_BYTES or symbols.size % _SYMBOL_BYTES:
        raise MalformedError(f"the symbol table is not made of entries of {_SYMBOL_BYTES} bytes")
    if symbols.size > _MAX_SYMBOLS * _SYMBOL_BYTES:
        raise MalformedError(f"more than {_MAX_SYMBOLS} symbols")
    if symbols.link >= len(table):
        raise MalformedError("the symbols have no names")
    end = symbols.offset + symbols.size
    content = memoryview(data)[symbols.offset : end]
    in_memory = [bool(section.flags & _ALLOCATED) for section in table]
    return SymbolTable(content, table[symbols.link].content(data), in_memory)
