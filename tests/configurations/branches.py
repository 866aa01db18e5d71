"""The conditional instructions of a kernel's assembler, by the source line that they come from.

The line table of the assembler's unit says which lines; those of a macro are the line that uses it.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

TAKEN, FALLS = "taken", "falls through"
UNIT = "entry.S"


@dataclass(frozen=True)
class Branch:
    """`place` is `file:line`, with a number behind it where a macro has several.

    `ways` are the directions by the address that is executed next; of an IT instruction there is
    none, since what follows is the same: `condition` is its condition.
    """

    place: str
    address: int
    ways: tuple[tuple[int, str], ...]
    condition: int | None = None

    @property
    def directions(self) -> tuple[str, ...]:
        if self.condition is not None:
            return (TAKEN, FALLS)
        return tuple(dict.fromkeys(name for _, name in self.ways))


def holds(condition: int, xpsr: int) -> bool:
    """Whether a condition is met (Armv7-M ARM A7.3)."""
    n, z, c, v = (bool(xpsr >> bit & 1) for bit in (31, 30, 29, 28))
    met = (z, c, n, v, c and not z, n == v, n == v and not z, True)[condition >> 1]
    return met != bool(condition & 1)


class Assembler:
    """That of a kernel."""

    def __init__(self, elf: Path) -> None:
        with elf.open("rb") as file:
            image = ELFFile(file)
            lines, data_at = dict(_rows(image)), _data(image)
            text = next(s for s in image.iter_segments("PT_LOAD") if _holds(s, min(lines)))
            base, data = text["p_vaddr"], text.data()
        self.range = range(min(lines), max(lines) + 4)
        rows: dict[int, str] = {}
        self.instructions: dict[int, tuple[int, int]] = {}
        at, place = self.range.start, ""
        while at < self.range.stop:
            place = lines.get(at, place)
            size = 2
            if not data_at(at):
                rows[at], self.instructions[at] = place, _instruction(data, at - base)
                size = self.instructions[at][1]
            at += size
        self.branches = tuple(_branches(rows, self.instructions, data, base))
        self.returns = tuple(
            address
            for address, (code, size) in self.instructions.items()
            if size == 2 and code & 0xFF87 == 0x4700
        )  # bx

    def reads_psp(self) -> tuple[int, int]:
        """Address of an `mrs rN, psp` that nobody stops at, and N."""
        found = [(a, code >> 8 & 15) for a, (code, size) in self.instructions.items()
                 if size == 4 and code & 0xFFFFF0FF == 0xF3EF8009]  # fmt: skip
        return found[-1]


def _holds(segment: object, address: int) -> bool:
    header = segment.header  # type: ignore[attr-defined]
    return bool(header["p_vaddr"] <= address < header["p_vaddr"] + header["p_filesz"])


def _data(image: ELFFile) -> Callable[[int], bool]:
    """Whether an address has data: by the mapping symbols (ELF for the Arm architecture, 5.5.5)."""
    table = image.get_section_by_name(".symtab")
    assert isinstance(table, SymbolTableSection)
    marks = sorted(
        (s["st_value"] & ~1, s.name[:2] == "$d")
        for s in table.iter_symbols()
        if s.name[:2] in ("$t", "$d", "$a")
    )
    starts = [start for start, _ in marks]
    return lambda address: marks[bisect_right(starts, address) - 1][1]


def _rows(image: ELFFile) -> Iterator[tuple[int, str]]:
    dwarf = image.get_dwarf_info()
    for unit in dwarf.iter_CUs():
        name = unit.get_top_DIE().attributes.get("DW_AT_name")
        if name is None or Path(name.value.decode()).name != UNIT:
            continue
        program = dwarf.line_program_for_CU(unit)
        assert program is not None
        files = [Path(entry.name.decode()).name for entry in program["file_entry"]]
        first = 0 if program.header.version >= 5 else 1
        for entry in program.get_entries():
            state = entry.state
            if state is not None and not state.end_sequence:
                yield state.address, f"{files[state.file - first]}:{state.line}"


def _instruction(data: bytes, offset: int) -> tuple[int, int]:
    """Its code and its size."""
    first, second = struct.unpack_from("<HH", data + b"\0\0", offset)
    return (first << 16 | second, 4) if first >> 11 in (0x1D, 0x1E, 0x1F) else (first, 2)


def _branches(
    rows: dict[int, str],
    instructions: dict[int, tuple[int, int]],
    data: bytes,
    base: int,
) -> Iterator[Branch]:
    seen: Counter[str] = Counter()
    for address, (code, size) in instructions.items():
        branch = _branch(address, code, size, data, base)
        if branch is None:
            continue
        place = rows[address]
        seen[place] += 1
        number = f" ({seen[place]})" if seen[place] > 1 else ""
        yield Branch(place + number, address, *branch)


def _branch(
    address: int, code: int, size: int, data: bytes, base: int
) -> tuple[tuple[tuple[int, str], ...], int | None] | None:
    behind = address + size
    if size == 2 and code >> 12 == 0xD and code >> 8 & 15 < 14:
        offset = (code & 0xFF) * 2
        to = address + 4 + (offset - 512 if offset & 256 else offset)
    elif size == 2 and code & 0xF500 == 0xB100:  # cbz, cbnz
        to = address + 4 + ((code >> 9 & 1) << 6 | (code >> 3 & 31) << 1)
    elif size == 4 and code & 0xF800D000 == 0xF0008000 and code >> 22 & 15 < 14:
        offset = (
            (code >> 26 & 1) << 20 | (code & 1 << 11) << 8 | (code & 1 << 13) << 5
            | (code >> 16 & 0x3F) << 12 | (code & 0x7FF) << 1
        )  # fmt: skip
        to = address + 4 + (offset - (1 << 21) if offset >> 20 else offset)
    elif size == 2 and code >> 8 == 0xBF and code & 15:
        return (), code >> 4 & 15
    elif size == 4 and code & 0xFFF0FFF0 == 0xE8D0F010:  # tbh: four calls, in order
        table = struct.unpack_from("<4H", data, behind - base)
        return tuple((behind + 2 * t, f"entry {i}") for i, t in enumerate(table)), None
    else:
        return None
    return ((to, TAKEN), (behind, FALLS)), None
