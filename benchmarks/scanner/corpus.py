"""Programs of any size out of real ones: their code, with its symbols, again and again."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from elftools.elf.elffile import ELFFile

ORIGIN = 0x08000000
_SYMBOL = np.dtype(
    [("name", "<u4"), ("value", "<u4"), ("size", "<u4"), ("info", "u1"), ("other", "u1"),
     ("section", "<u2")]
)  # fmt: skip
_PROGRAM_HEADER, _SECTION_HEADER, _FILE_HEADER = 32, 40, 52
_EXECUTABLE = 5
_MACHINES = {"EM_ARM": 40, "EM_RISCV": 243}
_ATTRIBUTES = {40: ".ARM.attributes", 243: ".riscv.attributes"}
_PROGBITS, _SYMBOLS, _STRINGS, _ATTRIBUTE_SECTION = 1, 2, 3, 0x70000003


@dataclass(frozen=True)
class Text:
    """The .text of a program with the symbols in it, addresses counted from its beginning."""

    machine: int
    code: bytes
    symbols: npt.NDArray[np.void]
    names: bytes
    attributes: bytes

    @classmethod
    def of(cls, path: Path) -> Text:
        """Read a linked program."""
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            text, table = _section(elf, ".text"), _section(elf, ".symtab")
            number = elf.get_section_index(".text")
            symbols = np.frombuffer(table.data(), dtype=_SYMBOL).copy()
            symbols = symbols[symbols["section"] == number]
            symbols["value"] -= text["sh_addr"]
            machine = _MACHINES[elf["e_machine"]]
            names = _section(elf, ".strtab").data()
            attributes = _section(elf, _ATTRIBUTES[machine]).data()
            return cls(machine, text.data(), symbols, names, attributes)


def repeated(texts: Sequence[Text], size: int, with_symbols: bool = True) -> bytes:
    """An ELF with `size` bytes of the texts one after the other, the last one cut off."""
    code, tables, names = bytearray(), [], b""
    offsets = []
    for text in texts:
        offsets.append(len(names))
        names += text.names
    while len(code) < size:
        for text, offset in zip(texts, offsets, strict=True):
            symbols = text.symbols.copy()
            symbols["value"] += ORIGIN + len(code)
            symbols["name"] += offset
            symbols["section"] = 1
            tables.append(symbols[symbols["value"] < ORIGIN + size])
            code += text.code + bytes(-len(text.code) % 4)
            if len(code) >= size:
                break
    first = texts[0]
    sections = [
        (".text", _PROGBITS, bytes(code[:size])),
        (_ATTRIBUTES[first.machine], _ATTRIBUTE_SECTION, first.attributes),
    ]
    if with_symbols:
        table = np.concatenate([np.zeros(1, dtype=_SYMBOL), *tables]).tobytes()
        sections += [(".symtab", _SYMBOLS, table), (".strtab", _STRINGS, names)]
    return _elf(first.machine, sections)


def _section(elf: ELFFile, name: str) -> Any:
    section = elf.get_section_by_name(name)
    if section is None:
        raise ValueError(f"no section {name}")
    return section


def _elf(machine: int, sections: Sequence[tuple[str, int, bytes]]) -> bytes:
    """Sections by name, type and content; the first one is what runs."""
    labels = b"\0".join(
        name.encode() for name in ("", *(n for n, _, _ in sections), ".shstrtab", "")
    )
    every = [*sections, (".shstrtab", _STRINGS, labels)]
    place = start = _FILE_HEADER + _PROGRAM_HEADER
    headers = [bytes(_SECTION_HEADER)]
    for number, (name, kind, data) in enumerate(every):
        runs = number == 0
        link, entry = (number + 2, _SYMBOL.itemsize) if kind == _SYMBOLS else (0, 0)
        where = (labels.index(name.encode()), kind, 6 if runs else 0, ORIGIN if runs else 0)
        headers.append(struct.pack("<10I", *where, place, len(data), link, 0, 4, entry))
        place += len(data)
    length = len(every[0][2])
    load = struct.pack("<8I", 1, start, ORIGIN, ORIGIN, length, length, _EXECUTABLE, 4)
    entry = ORIGIN + 1 if machine == _MACHINES["EM_ARM"] else ORIGIN
    header = b"\x7fELF\1\1\1".ljust(16, b"\0")
    header += struct.pack("<HHIIIII", 2, machine, 1, entry, _FILE_HEADER, place, 0x05000200)
    sizes = (_FILE_HEADER, _PROGRAM_HEADER, 1, _SECTION_HEADER, len(headers), len(every))
    header += struct.pack("<6H", *sizes)
    return b"".join([header, load, *(data for _, _, data in every), *headers])
