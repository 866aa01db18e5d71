"""How large the kernel and the hypervisor of a built system are."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile

_ALLOCATED, _STORED = 2, "SHT_PROGBITS"
_RAM = 0x2000_0000


@dataclass(frozen=True)
class Size:
    """Bytes. `code`: everything in the flash, tables included; `tables` of it is constant data."""

    code: int
    tables: int
    ram: int


def size_of(elf: Path) -> Size:
    """By the sections that take room."""
    code = tables = ram = 0
    with elf.open("rb") as file:
        for section in ELFFile(file).iter_sections():
            if not section["sh_flags"] & _ALLOCATED:
                continue
            size = section["sh_size"]
            stored = section["sh_type"] != "SHT_NOBITS"
            if stored:
                code += size
            if section.name == ".rodata":
                tables += size
            if section["sh_addr"] >= _RAM:
                ram += size
    return Size(code, tables, ram)
