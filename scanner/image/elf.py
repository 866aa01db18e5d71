"""ELF programs through pyelftools, trusting no number in them.

The library parses headers; every offset, size and count is checked against the file before it is
used, and tables that it reads without bounds (attributes, DWARF, symbols) are read by us.
"""

from __future__ import annotations

from io import BytesIO
from typing import Any, Literal

from elftools.elf.elffile import ELFFile

from scanner.image.attributes import arm_architecture
from scanner.image.lines import LineTable
from scanner.image.model import Image, Problem, Segment
from scanner.image.riscv_attributes import riscv_architecture
from scanner.image.segments import segment_problems
from scanner.image.symbols import SymbolTable, printable

_HEADER_BYTES = 52
_PROGRAM_HEADER_BYTES = 32
_SECTION_HEADER_BYTES = 40
_SYMBOL_BYTES = 16
_MAX_SEGMENTS = 1024
_MAX_SECTIONS = 16384
_MAX_UNPACKED = 32 << 20
_MAX_CODE = 32 << 20
_EXECUTE, _WRITE = 1, 2
_RELOCATABLE = 1
_ARM, _RISCV = 40, 243
_ATTRIBUTES = {
    _ARM: (".ARM.attributes", arm_architecture),
    _RISCV: (".riscv.attributes", riscv_architecture),
}
"""For each ELF machine that is read, the section that tells its architecture, and its reader."""


class _Malformed(Exception):
    """The file contradicts itself; the text says where."""


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
    try:
        elf = ELFFile(BytesIO(data))
        segments = _segments(elf, data)
        sections = _sections(elf, data)
        entry = elf["e_entry"] or None
        finished = elf["e_type"] == "ET_EXEC"
        symbols = _symbols(sections, data)
    except _Malformed as error:
        return Image(problems=(Problem("elf-malformed", str(error)),))
    except Exception as error:  # noqa: BLE001 - pyelftools lets whatever its parser met through
        reason = printable(str(error).encode()[:80]) or type(error).__name__
        text = f"unreadable: {reason}"
        return Image(problems=(Problem("elf-malformed", text),))
    problems = list(segment_problems(segments, entry))
    if not finished:
        problems.append(Problem("elf-malformed", "not a program linked to fixed addresses"))
    machine = _machine(data)
    name, architecture_of = _ATTRIBUTES[machine]
    attributes = sections.get(name)
    return Image(
        machine=machine,
        arch=None if attributes is None else architecture_of(_bytes(attributes, data)),
        entry=entry,
        segments=segments,
        symbols=symbols,
        lines=LineTable(
            _debug(sections, ".debug_line"),
            _debug(sections, ".debug_line_str"),
            _debug(sections, ".debug_str"),
        ),
        problems=tuple(problems),
    )


def _foreign(data: bytes) -> Problem | None:
    """A file that no scan makes sense for."""
    if not is_elf(data):
        return Problem("elf-malformed", "not an ELF file")
    if len(data) < _HEADER_BYTES:
        return Problem("elf-malformed", f"truncated: {len(data)} bytes end inside the ELF header")
    if data[4] != 1:
        return Problem("wrong-machine", "not a 32-bit program")
    if data[5] != 1:
        return Problem("wrong-machine", "not a little-endian program")
    if _machine(data) not in _ATTRIBUTES:
        text = f"ELF machine {_machine(data)} is no core that the rules know"
        return Problem("wrong-machine", text)
    if is_object(data):
        return Problem("elf-malformed", "an object file: its addresses are not known before a link")
    return None


def _machine(data: bytes) -> int:
    return int.from_bytes(data[18:20], "little")


def _segments(elf: ELFFile, data: bytes) -> tuple[Segment, ...]:
    offset, count, size = elf["e_phoff"], elf["e_phnum"], elf["e_phentsize"]
    if count == 0:
        raise _Malformed("no program headers: not a linked program")
    if count > _MAX_SEGMENTS:
        raise _Malformed(f"{count} program headers; at most {_MAX_SEGMENTS} are read")
    if size != _PROGRAM_HEADER_BYTES:
        raise _Malformed(f"program headers of {size} bytes, not {_PROGRAM_HEADER_BYTES}")
    _inside(data, "the program header table", offset, count * size)
    view = memoryview(data)
    segments = []
    for number, header in enumerate(elf.iter_segments()):
        if header["p_type"] != "PT_LOAD" or header["p_memsz"] == 0 == header["p_filesz"]:
            continue
        start, length = header["p_offset"], header["p_filesz"]
        _inside(data, f"segment {number}", start, length)
        segments.append(
            Segment(
                address=header["p_vaddr"],
                load_address=header["p_paddr"],
                data=view[start : start + length],
                memory_size=header["p_memsz"],
                offset=start,
                executable=bool(header["p_flags"] & _EXECUTE),
                writable=bool(header["p_flags"] & _WRITE),
            )
        )
    if sum(len(segment.data) for segment in segments) > 2 * len(data):
        raise _Malformed("the segments claim the same bytes of the file over and over")
    if sum(len(segment.data) for segment in segments if segment.executable) > _MAX_CODE:
        raise _Malformed(
            f"more than {_MAX_CODE >> 20} MiB of code: not a microcontroller's program"
        )
    return tuple(segments)


def _sections(elf: ELFFile, data: bytes) -> dict[str, Any]:
    """Sections by name, the first of each; a file without section headers has none."""
    offset, count, size = elf["e_shoff"], elf["e_shnum"], elf["e_shentsize"]
    if offset == 0 or count == 0 == elf["e_shstrndx"]:
        return {}
    if size != _SECTION_HEADER_BYTES:
        raise _Malformed(f"section headers of {size} bytes, not {_SECTION_HEADER_BYTES}")
    if not 0 < count <= _MAX_SECTIONS:
        raise _Malformed(f"{count} section headers; 1 to {_MAX_SECTIONS} are read")
    _inside(data, "the section header table", offset, count * size)
    sections: dict[str, Any] = {}
    for number, section in enumerate(elf.iter_sections()):
        if section["sh_type"] not in ("SHT_NOBITS", "SHT_NULL"):
            _inside(data, f"section {number}", section["sh_offset"], section["sh_size"])
            sections.setdefault(section.name, section)
    return sections


def _symbols(sections: dict[str, Any], data: bytes) -> SymbolTable | None:
    table = next((s for s in sections.values() if s["sh_type"] == "SHT_SYMTAB"), None)
    if table is None:
        return None
    if table["sh_entsize"] != _SYMBOL_BYTES or table["sh_size"] % _SYMBOL_BYTES:
        raise _Malformed(f"the symbol table is not made of entries of {_SYMBOL_BYTES} bytes")
    names = table.stringtable
    _inside(data, "the symbol names", names["sh_offset"], names["sh_size"])
    return SymbolTable(_bytes(table, data), _bytes(names, data))


def _debug(sections: dict[str, Any], name: str) -> bytes:
    """A debug section, unpacked; empty if it is missing or too large to be worth reading."""
    section = sections.get(name)
    if section is None or section.data_size > _MAX_UNPACKED:
        return b""
    try:
        return bytes(section.data())
    except Exception:  # noqa: BLE001 - a bad compressed stream costs source lines, not the scan
        return b""


def _bytes(section: Any, data: bytes) -> bytes:
    start = section["sh_offset"]
    return data[start : start + section["sh_size"]]


def _inside(data: bytes, what: str, offset: int, size: int) -> None:
    if offset + size > len(data):
        raise _Malformed(
            f"{what} ends at byte {offset + size} of a file of {len(data)} bytes: "
            "truncated, or its size lies"
        )
