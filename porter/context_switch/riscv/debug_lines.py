"""Line tables of RV32 objects: the assembler leaves distances of addresses to the linker."""

from __future__ import annotations

import struct
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection

from porter.context_switch.sections_once import SectionsOnce

# R_RISCV_*: width in bytes, and what becomes of the word there (RISC-V ELF psABI, 8.5).
_WORD = 1
_SUMS = {33: (1, 1), 34: (2, 1), 35: (4, 1), 37: (1, -1), 38: (2, -1), 39: (4, -1)}
_CODES = {1: "<B", 2: "<H", 4: "<I"}


def dwarf(raw: bytes) -> Any:
    """Debug information of an object, with the relocations that only a linker applies."""
    return _with_debug_relocations(raw).get_dwarf_info(relocate_dwarf_sections=False)


def _with_debug_relocations(raw: bytes) -> ELFFile:
    """The object with the relocations of its debug sections applied, sections beginning at 0."""
    data = bytearray(raw)
    elf = SectionsOnce(raw)
    for section in elf.iter_sections():
        if not isinstance(section, RelocationSection):
            continue
        target: Any = elf.get_section(section["sh_info"])
        symbols: Any = elf.get_section(section["sh_link"])
        if not target.name.startswith(".debug"):
            continue
        for entry in section.iter_relocations():
            value = symbols.get_symbol(entry["r_info_sym"])["st_value"] + entry["r_addend"]
            _apply(data, target, entry, value)
    return SectionsOnce(bytes(data))


def _apply(data: bytearray, target: Any, entry: Any, value: int) -> None:
    kind, offset = entry["r_info_type"], entry["r_offset"]
    width, sign = _SUMS.get(kind, (4, 1))
    if (kind != _WORD and kind not in _SUMS) or offset + width > target["sh_size"]:
        return
    place = target["sh_offset"] + offset
    old = 0 if kind == _WORD else struct.unpack_from(_CODES[width], data, place)[0]
    new = (old + sign * value) & ((1 << 8 * width) - 1)
    struct.pack_into(_CODES[width], data, place, new)
