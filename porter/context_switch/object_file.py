"""An assembled object: bytes, functions, literal data, relocations and the text of each line."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile
from elftools.elf.relocation import RelocationSection
from elftools.elf.sections import SymbolTableSection

from porter.context_switch.machine import JumpTargets
from porter.context_switch.machines import machine_of_object
from porter.context_switch.result import NotTranscribable
from porter.context_switch.sections_once import SectionsOnce

_UNWINDING = (".ARM.ex", ".eh_frame")  # says where functions are


@dataclass(frozen=True)
class Function:
    """[start, end) in bytes from the start of a section; `end` is the next function's start.
    `names` are all names of the same place that others use, weak ones last; `weak`: all are weak,
    another file may define the function instead."""

    name: str
    section: int
    start: int
    end: int
    names: tuple[str, ...]
    weak: bool = False


@dataclass(frozen=True)
class Relocation:
    """What the linker will put at a place: the address of `symbol` plus `offset` bytes. `place`:
    section and address of the symbol, if it is of this file. `is_local`: of no other."""

    kind: int
    symbol: str
    offset: int
    place: tuple[int, int] | None = None
    is_local: bool = False


@dataclass(frozen=True)
class Variable:
    """Where a variable or a label lies; `size` in bytes, 0 where the file doesn't say."""

    name: str
    section: int
    address: int
    size: int

    def meets(self, other: Variable) -> bool:
        """Whether some byte is of both."""
        ends = self.address + max(self.size, 1), other.address + max(other.size, 1)
        overlap = self.address < ends[1] and other.address < ends[0]
        return self.section == other.section and overlap


class ObjectFile:
    """Everything the decoder asks of one relocatable ELF file."""

    def __init__(self, path: Path, listing: str = "") -> None:
        """`listing` is the name of the text that `line` counts lines of; "" where only one is."""
        self._listing = listing
        self.raw = path.read_bytes()
        elf = SectionsOnce(self.raw)
        self.machine = machine_of_object(elf)
        self.flags: int = elf["e_flags"]
        if elf.elfclass != 32:
            raise NotTranscribable("made for a processor of 64 bits: only 32 are understood")
        self.data = {
            index: section.data()
            for index, section in enumerate(elf.iter_sections())
            if section["sh_type"] == "SHT_PROGBITS"
        }
        self.sections = [section.name for section in elf.iter_sections()]
        self.data_sizes = _data_sizes(elf)
        self._loaded = {
            index
            for index, section in enumerate(elf.iter_sections())
            if section["sh_flags"] & SH_FLAGS.SHF_ALLOC
        }
        self._names: dict[tuple[int, int], str] = {}
        self._labels: dict[tuple[int, int], list[str]] = {}  # of code, untyped and private
        self._maps: dict[int, list[tuple[int, bool]]] = {}
        self.code: frozenset[int] = frozenset()  # sections with instructions
        self.functions: list[Function] = []
        self.globals: set[str] = set()
        self.may_miss: set[str] = set()  # weak names that another file may define
        self.exported: set[str] = set()  # all that it defines for other files
        self._weak: set[str] = set()
        self.variables: list[Variable] = []  # with labels, of sections without instructions
        self.absolute: dict[str, int] = {}  # names of numbers that other files may use
        self._read_symbols(elf)
        self._relocations: dict[tuple[int, int], Relocation] = {}
        self._line_sections: list[int] = []
        self._read_relocations(elf)
        if self.machine.jump_targets is not None:
            self._split_at_entries(self.machine.jump_targets)
            self._name_further()
        self._lines: dict[tuple[int, int], int] = {}
        self._read_lines(elf)

    def _read_symbols(self, elf: ELFFile) -> None:
        starts: dict[int, dict[int, list[str]]] = {}
        untyped: set[tuple[int, int]] = set()
        code = {
            index
            for index, section in enumerate(elf.iter_sections())
            if section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR
        }
        self.code = frozenset(code)
        for table in elf.iter_sections():
            if not isinstance(table, SymbolTableSection):
                continue
            for symbol in table.iter_symbols():
                section, value = symbol["st_shndx"], symbol["st_value"]
                kind, binding = symbol["st_info"]["type"], symbol["st_info"]["bind"]
                if section != "SHN_UNDEF" and binding != "STB_LOCAL":
                    self.exported.add(symbol.name)
                elif binding == "STB_WEAK":
                    self.may_miss.add(symbol.name)
                if section == "SHN_ABS" and binding != "STB_LOCAL":
                    self.absolute[symbol.name] = value
                if not isinstance(section, int):
                    continue
                # An author may leave out .type; a name that others can call is a function then.
                called = kind == "STT_NOTYPE" and binding != "STB_LOCAL" and section in code
                if symbol.name.split(".")[0] in ("$t", "$d", "$a") or symbol.name.startswith("$x"):
                    entries = self._maps.setdefault(section, [])
                    entries.append((value, symbol.name.startswith("$d")))
                elif kind == "STT_FUNC" or called:
                    if called:
                        untyped.add((section, value & ~1))
                    names = starts.setdefault(section, {}).setdefault(value & ~1, [])
                    # Globals are last in the table; they name the function.
                    names.insert(0 if binding == "STB_LOCAL" else len(names), symbol.name)
                    if binding != "STB_LOCAL":
                        self.globals.add(symbol.name)
                    if binding == "STB_WEAK":
                        self._weak.add(symbol.name)
                elif kind != "STT_SECTION" and symbol.name and kind != "STT_FILE":
                    self._names.setdefault((section, value), symbol.name)
                    if section not in code:
                        place = Variable(symbol.name, section, value, symbol["st_size"])
                        self.variables.append(place)
                    elif not symbol.name.startswith(".L"):  # the assembler's own
                        self._labels.setdefault((section, value & ~1), []).append(symbol.name)
        for entries in self._maps.values():
            entries.sort()
        for section, places in starts.items():
            found = []
            for start, names in sorted(places.items()):
                if (section, start) in untyped and self.is_data(section, start):
                    self._names.setdefault((section, start), names[0])
                else:
                    found.append((start, names))
            limits = [*(start for start, _ in found), len(self.data.get(section, b""))]
            for (start, names), end in zip(found, limits[1:], strict=True):
                public = [name for name in names if name in self.globals] or names[:1]
                public.sort(key=lambda name: name in self._weak)
                weak = public[0] in self._weak
                self.functions.append(Function(public[0], section, start, end, tuple(public), weak))
                self._names[(section, start)] = public[0]

    def _read_relocations(self, elf: ELFFile) -> None:
        for section in elf.iter_sections():
            if not isinstance(section, RelocationSection):
                continue
            symbols: Any = elf.get_section(section["sh_link"])
            target = section["sh_info"]
            is_lines = elf.get_section(target).name == ".debug_line"
            for entry in section.iter_relocations():
                symbol = symbols.get_symbol(entry["r_info_sym"])
                if is_lines and entry["r_info_type"] != self.machine.word:
                    continue
                if is_lines:
                    self._line_sections.append(symbol["st_shndx"])
                elif target in self.data:
                    self._add_relocation(target, entry, symbol)

    def _add_relocation(self, section: int, entry: Any, symbol: Any) -> None:
        offset, kind = entry["r_offset"], entry["r_info_type"]
        name, addend = symbol.name, 0
        home, place = symbol["st_shndx"], None
        if isinstance(home, int):
            place = home, symbol["st_value"]
        if entry.is_RELA():
            addend = entry["r_addend"]
        elif kind == self.machine.word:
            addend = int.from_bytes(self.data[section][offset : offset + 4], "little", signed=True)
        if symbol["st_info"]["type"] == "STT_SECTION":
            exact = self._names.get((home, addend & ~1)) or self._names.get((home, addend))
            if exact:
                name, place, addend = exact, (home, addend & ~1), 0
            else:
                name = ""
        is_local = symbol["st_info"]["bind"] == "STB_LOCAL"
        self._relocations[(section, offset)] = Relocation(kind, name, addend, place, is_local)

    def _split_at_entries(self, jump_targets: JumpTargets) -> None:
        """What a table of jumps leads to is a handler, typed or not."""
        for table in list(self.functions):
            code = self.data.get(table.section, b"")
            for place, target in jump_targets(code, table.start, table.end):
                relocation = self.relocation(table.section, place)
                home, start = table.section, target
                if relocation is not None:
                    home, start = relocation.place or (-1, 0)
                    start += relocation.offset
                if names := self._labels.get((home, start)):
                    self._begin(names[0], home, start)

    def _begin(self, name: str, section: int, start: int) -> None:
        """A function begins in the middle of what was another's, or nobody's."""
        around = self.function_at(section, start)
        if around is not None and around.start == start:
            return
        later = (it.start for it in self.functions if it.section == section and it.start > start)
        end = min(later, default=len(self.data.get(section, b"")))
        place = len(self.functions)
        if around is not None:
            place = self.functions.index(around) + 1
            self.functions[place - 1] = replace(around, end=start)
        self.functions.insert(place, Function(name, section, start, end, (name,)))

    def _name_further(self) -> None:
        """A label at a function's start that code elsewhere goes to is another name of it."""
        wanted = {it.symbol for at, it in self._relocations.items() if at[0] in self._loaded}
        for place, function in enumerate(self.functions):
            labels = self._labels.get((function.section, function.start), ())
            further = [it for it in labels if it in wanted and it not in function.names]
            self.functions[place] = replace(function, names=(*function.names, *further))

    def _read_lines(self, elf: ELFFile) -> None:
        if not elf.has_dwarf_info():
            return
        section = iter(self._line_sections)
        dwarf = self.machine.dwarf(self.raw)
        for unit in dwarf.iter_CUs():
            program = dwarf.line_program_for_CU(unit)
            if program is None:
                continue
            names = [Path(file.name.decode()).name for file in program["file_entry"]]
            current = None
            for entry in program.get_entries():
                state = entry.state
                if state is None:
                    continue
                if current is None:
                    current = next(section, -1)
                if state.end_sequence:
                    current = None
                elif not self._listing or names[state.file - 1 : state.file] == [self._listing]:
                    self._lines[(current, state.address)] = state.line

    def line(self, section: int, address: int) -> int | None:
        """Line of the assembler text that made the instruction at an address."""
        return self._lines.get((section, address))

    def relocation(self, section: int, address: int) -> Relocation | None:
        """The relocation of the word or instruction at an address."""
        return self._relocations.get((section, address))

    def function_at(self, section: int, address: int) -> Function | None:
        """The function that an address is in."""
        here = (it for it in self.functions if it.section == section)
        return next((it for it in here if it.start <= address < it.end), None)

    def leading_to(self, names: Iterable[str], weak: bool) -> Iterator[tuple[int, int]]:
        """Sections and addresses of loaded words and instructions that have the address of a
        function of these names, or of a place in it, and don't belong to it. A function that isn't
        as weak as that one is one that the linker doesn't take."""
        wanted = set(names)
        named = [it for it in self.functions if wanted & set(it.names)]
        own = [it for it in named if it.weak == weak]
        if own:
            wanted |= {name for at, name in self._names.items() if self.function_at(*at) in own}
        for (section, address), relocation in self._relocations.items():
            is_there = relocation.symbol in wanted
            if relocation.place is not None and relocation.is_local:
                home, start = relocation.place
                is_there = self.function_at(home, (start + relocation.offset) & ~1) in own
            user = self.function_at(section, address)
            if is_there and section in self._loaded and user not in named:
                yield section, address

    def taken(self, section: int) -> set[int]:
        """Addresses in a section that loaded words have."""
        found = set()
        for (home, _), relocation in self._relocations.items():
            is_word = home in self._loaded and relocation.kind == self.machine.word
            if is_word and relocation.place is not None and relocation.place[0] == section:
                found.add((relocation.place[1] + relocation.offset) & ~1)
        return found

    def addresses(self) -> set[str]:
        """Names whose address a loaded word or an instruction has, other than to go there."""
        found = set()
        for (section, _), relocation in self._relocations.items():
            if section in self._loaded and relocation.kind not in self.machine.jumps:
                home, start = relocation.place or (-1, 0)
                found |= {relocation.symbol, self.name_at(home, (start + relocation.offset) & ~1)}
        return {name for name in found if name}

    def name_at(self, section: int, address: int) -> str | None:
        """The symbol at an address of this object."""
        return self._names.get((section, address))

    def is_data(self, section: int, address: int) -> bool:
        """Whether a literal pool or other data stands there ($d mapping symbol)."""
        entries = self._maps.get(section, [])
        index = bisect_right(entries, (address, True)) - 1
        return index >= 0 and entries[index][1]

    def place_of(self, section: int, name: str) -> int | None:
        """The address of a function in a section, under whatever of its names."""
        for function in self.functions:
            if function.section == section and name in function.names:
                return function.start
        return None

    def label(self, section: int, name: str) -> int | None:
        """The address of a label in a section that is no function."""
        places = (at for at, found in self._names.items() if found == name and at[0] == section)
        return next((address for _, address in places), None)

    def places(self, name: str) -> list[tuple[int, int]]:
        """Sections and addresses of the objects and labels of a name."""
        return [place for place, found in self._names.items() if found == name]

    def is_weak(self, name: str) -> bool:
        """Whether another file may define a name instead."""
        return name in self._weak

    def users(self, name: str, without: Iterable[Function] = ()) -> int:
        """In how many loaded places, but of some functions, a name's address is put."""
        gone = list(without)
        return sum(
            relocation.symbol == name and section in self._loaded
            for (section, address), relocation in self._relocations.items()
            if not any(it.section == section and it.start <= address < it.end for it in gone)
        )

    def defined(self) -> set[str]:
        """Names of functions, labels and objects that it has."""
        functions = {name for function in self.functions for name in function.names}
        labels = {name for names in self._labels.values() for name in names}
        return functions | labels | set(self._names.values())

    def private(self) -> set[str]:
        """Those of them that no other file can mean."""
        return self.defined() - self.exported

    def named(self) -> set[str]:
        """Names that something in it has for a place, its own or one elsewhere."""
        return {relocation.symbol for relocation in self._relocations.values()}

    def named_in(self, function: str) -> set[str]:
        """The same of a function and of what a compiler made parts of it (`f.part.0`); of all where
        it has none of that name."""
        own = [it for it in self.functions if function in {at.split(".")[0] for at in it.names}]
        if not own:
            return self.named()
        return {
            relocation.symbol
            for (section, address), relocation in self._relocations.items()
            if any(it.section == section and it.start <= address < it.end for it in own)
        }

    def wanted(self) -> set[str]:
        """Names that it takes from elsewhere."""
        return self.named() - self.defined()

    def differing(self, other: ObjectFile) -> set[tuple[int, int]]:
        """Sections and addresses of the instructions and loaded words that lead elsewhere, or are
        others, than in another object of as many bytes."""
        places = {
            at
            for at in self._relocations.keys() | other._relocations.keys()
            if self._linked(at) != other._linked(at)
        }
        for section, data in self.data.items():
            new = other.data.get(section, b"")
            size = max(len(data), len(new))
            places |= {(section, at) for at in range(size) if data[at : at + 1] != new[at : at + 1]}
        return {(section, self._begins(section, at)) for section, at in places
                if section in self._loaded}  # fmt: skip

    def _linked(self, at: tuple[int, int]) -> object:
        """What the linker puts at a place: a label of the file's own is where it stands."""
        found = self._relocations.get(at)
        if found is None or found.place is None or not found.is_local:
            return found
        return found.kind, found.place, found.offset

    def _begins(self, section: int, address: int) -> int:
        """Where the instruction or the word begins that a byte is of."""
        if self.is_data(section, address):
            return address & ~3
        known = (at for home, at in self._lines if home == section and at <= address)
        return max(known, default=address & ~1)

    def word(self, section: int, address: int) -> int:
        """The word a PC-relative load finds; IndexError outside the section."""
        data = self.data[section]
        if not 0 <= address <= len(data) - 4:
            raise IndexError(address)
        return int.from_bytes(data[address : address + 4], "little")


def _data_sizes(elf: ELFFile) -> dict[str, int]:
    """Bytes of each section of a program's data, by name."""
    found: dict[str, int] = {}
    for section in elf.iter_sections():
        flags = section["sh_flags"]
        is_data = flags & SH_FLAGS.SHF_ALLOC and not flags & SH_FLAGS.SHF_EXECINSTR
        if is_data and not section.name.startswith(_UNWINDING):
            found[section.name] = found.get(section.name, 0) + section["sh_size"]
    return found
