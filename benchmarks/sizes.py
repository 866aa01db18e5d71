"""How large the kernel and the hypervisor of a built system are, and what is large in them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

PARTS = ("kernel", "hypervisor")
_ALLOCATED = 2
_RAM = 0x2000_0000
MOST = 40  # symbols that are listed


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


def write_json(path: Path, systems: Mapping[str, Path]) -> None:
    """configuration -> part -> its Size."""
    content = {
        name: {part: asdict(size_of(system / part / f"{part}.elf")) for part in PARTS}
        for name, system in systems.items()
    }
    path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def listing(system: Path) -> Iterator[str]:
    """The sizes of the parts of a composed system, their sections and largest symbols."""
    for part in PARTS:
        elf = system / part / f"{part}.elf"
        size = size_of(elf)
        yield f"{part}: code {size.code} (tables {size.tables}), RAM {size.ram}"
        with elf.open("rb") as file:
            image = ELFFile(file)
            for section in image.iter_sections():
                if section["sh_flags"] & _ALLOCATED and section["sh_size"]:
                    yield f"{section['sh_size']:7}  {section.name}"
            table = image.get_section_by_name(".symtab")
            symbols = table.iter_symbols() if isinstance(table, SymbolTableSection) else ()
            sizes = sorted(((s["st_size"], s["st_value"], s.name) for s in symbols), reverse=True)
        yield "largest symbols"
        for bytes_, address, name in sizes[:MOST]:
            yield f"{bytes_:7}  {'RAM ' if address >= _RAM else ''}{name}"
