"""Names and addresses of built images: marks, counters of rounds, functions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from scanner.report.errors import FvmError

_MARK = "mark_"
_ROUNDS = "rounds_"
_LAST = 0xFFFF_FFFF


@dataclass(frozen=True)
class Function:
    """A function's code; `image` is the part that it is in."""

    start: int
    end: int
    name: str
    image: str


class Symbols:
    """Of one or several ELFs that don't overlap."""

    def __init__(self, images: Iterable[tuple[str, Path]]) -> None:
        self.marks: dict[str, set[int]] = {}
        self.rounds: dict[str, list[int]] = {}
        self.objects: dict[tuple[str, str], int] = {}
        functions = []
        for image, path in images:
            with path.open("rb") as file:
                elf = ELFFile(file)
                table = elf.get_section_by_name(".symtab")
                if not isinstance(table, SymbolTableSection):
                    raise FvmError("has no symbols", file=path)
                for symbol in table.iter_symbols():
                    name, address = symbol.name, int(symbol["st_value"])
                    if name.startswith(_MARK):
                        mark = name[len(_MARK) :].partition(".")[0]
                        self.marks.setdefault(mark, set()).add(address & ~1)
                    elif name.startswith(_ROUNDS):
                        stored = _load_address(elf, address)
                        self.rounds.setdefault(name[len(_ROUNDS) :], []).append(stored)
                    elif symbol["st_info"]["type"] == "STT_FUNC":
                        start = address & ~1
                        functions.append(Function(start, start + symbol["st_size"], name, image))
                    self.objects[image, name] = address
        self._functions = sorted(functions, key=lambda f: (f.start, -f.end))
        self._starts = [function.start for function in self._functions]

    def function(self, address: int) -> Function:
        """The function at an address; code without one is named by its address."""
        index = bisect_right(self._starts, address) - 1
        if index >= 0:
            found = self._functions[index]
            if found.end == found.start:  # as assembler's may: it reaches as far as the next one
                following = self._starts[index + 1 : index + 2]
                found = replace(found, end=following[0] if following else _LAST)
            if address < found.end:
                return found
        return Function(address, address + 2, f"0x{address:08x}", "?")


def _load_address(elf: ELFFile, address: int) -> int:
    """Where the flash holds what is at an address after the start."""
    for segment in elf.iter_segments("PT_LOAD"):
        offset = address - int(segment["p_vaddr"])
        if 0 <= offset < segment["p_filesz"]:
            return int(segment["p_paddr"]) + offset
    return address
