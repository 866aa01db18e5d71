"""What the project's variables hold before anything runs: a pointer may lead to a register."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path

from porter.context_switch.assemble import Assembled
from porter.context_switch.ir import WORD, Const, Expr, Symbol
from porter.context_switch.object_file import ObjectFile
from porter.context_switch.recipe import begins_otherwise
from porter.project.linker_symbols import LinkerAlias, LinkerSymbol
from porter.project.section_addresses import PlacedSection, address_in_name
from porter.source.source_file import ASM_SUFFIXES

# Assembler in C, as a string or in braces, sets no variable at the beginning. Its own braces are
# those of register lists.
_NO_C = re.compile(rb'"(?:\\.|[^"\\\n])*"|\b__asm\b[^;{}]*\{(?:[^{}]|\{[^{}]*\})*\}')
_ASM = re.compile(rb"(?i:asm)")
_AT = re.compile(rb"\.ARM\.__at_", re.IGNORECASE)
_NUMBER = re.compile(rb"\b(?:0[xX][0-9A-Fa-f]+|[1-9][0-9]*)")
_IN_C = rb"\b%s\b[^;{}]*?[^=!<>]=(?!=)([^;]*)"  # with what it is set to
_IN_ASSEMBLER = rb"(?m)^\s*%s\b\s*:?()|\b%s\s*,()"  # a label, or .equ NAME, ...


Text = Callable[[Path], bytes]


class InitialData:
    """Looks variables up in the objects of all files that give them a value. A name may stand for
    several, statics of several files: each counts. `text`: a file's, without comments."""

    def __init__(
        self,
        files: Iterable[Path],
        assembled: Assembled,
        text: Text,
        linked: Iterable[LinkerSymbol] = (),
        aliases: Iterable[LinkerAlias] = (),
        placed: Iterable[PlacedSection] = (),
    ) -> None:
        files = list(files)
        self._all, self._placed = files, list(placed)
        self._aliases = list(aliases)
        self._linked: dict[str, list[Expr]] = {}
        for symbol in linked:
            self._linked.setdefault(symbol.name, []).append(Const(symbol.value))
        self._files = [file for file in files if file.suffix.lower() in (".c", *ASM_SUFFIXES)]
        self._assembled = assembled
        self._text = text
        self._plain = cache(lambda file: _NO_C.sub(b'""', self._text(file)))

    def words(self, name: str, offset: int) -> list[Expr]:
        """What the word at an offset in bytes may hold at the beginning, a number or an address in
        the project."""
        found: list[Expr] = []
        for file in self._files:
            if (told := self._set_to(file, name)) is None:
                continue
            if begins_otherwise(name, self._text(file)):
                continue
            if (unit := self._object(file)) is not None:
                found += _words(unit, name, offset)
            else:  # all that its text says
                found += _numbers(told)
        return found

    def absolute(self, name: str) -> list[Expr]:
        """The number that assembler gives a name for other files, in a file or in C, or a linker
        script."""
        units = [self._object(file) for file in self._files if self._may_number(file, name)]
        found = [Const(unit.absolute[name]) for unit in units if unit and name in unit.absolute]
        return [*found, *self._linked.get(name, ())]

    def placed(self, name: str, devices: Iterable[tuple[int, int]]) -> list[Expr]:
        """Where a variable lies whose section is put among devices."""
        devices = list(devices)
        there = [it for it in self._placed if _is_among(it.address, devices)]
        if not there and not self._names_addresses:
            return []
        found: list[Expr] = []
        for unit in self.mentioning(name):
            for place in (it for it in unit.variables if it.name == name):
                section = unit.sections[place.section]
                own = address_in_name(section)
                starts = [it.address for it in there if fnmatchcase(section, it.pattern)]
                starts += [own] if own is not None else []
                found += [Const(it + place.address & WORD) for it in starts]
        return found

    @cached_property
    def _names_addresses(self) -> bool:
        """Whether a file has a section with an address in its name."""
        return any(_AT.search(self._text(file)) for file in self._all)

    def _may_number(self, file: Path, name: str) -> bool:
        """Whether assembler of a file may make a name a number."""
        if file.suffix.lower() in ASM_SUFFIXES:
            return self._set_to(file, name) is not None
        text = self._text(file)
        return name.encode() in text and _ASM.search(text) is not None

    def also_linked(self, name: str) -> set[str]:
        """Names that linker scripts calculate from what a name is calculated from, or from it, and
        those, where one of them is a variable."""
        found, before = {name}, set[str]()
        while found != before:
            before = set(found)
            found |= {end for it in self._aliases if {it.name, it.of} & found
                      for end in (it.name, it.of)}  # fmt: skip
        is_variable = len(found) > 1 and any(
            place.name == it for it in found for unit in self.mentioning(it)
            for place in unit.variables
        )  # fmt: skip
        return found - {name} if is_variable else set()

    def mentioning(self, name: str) -> Iterator[ObjectFile]:
        """Objects of all files in which a name stands."""
        word = re.compile(rb"\b%s\b" % re.escape(name).encode())
        for file in self._files:
            if word.search(self._text(file)) and (unit := self._object(file)) is not None:
                yield unit

    def _set_to(self, file: Path, name: str) -> bytes | None:
        """The text that gives a variable its value, or may; None where there is none."""
        mark = re.escape(name).encode()
        in_assembler = file.suffix.lower() in ASM_SUFFIXES
        text = self._text(file) if in_assembler else self._plain(file)
        if mark not in text:
            return None
        pattern = _IN_ASSEMBLER % (mark, mark) if in_assembler else _IN_C % mark
        found = [match.group(1) or b"" for match in re.finditer(pattern, text)]
        return b" ".join(found) if found else None

    def _object(self, file: Path) -> ObjectFile | None:
        found = self._assembled(file)
        return found.object if found is not None else None


def _is_among(address: int, ranges: Iterable[tuple[int, int]]) -> bool:
    return any(start <= address < end for start, end in ranges)


def _numbers(text: bytes) -> list[Expr]:
    return [Const(int(number, 0) & WORD) for number in _NUMBER.findall(text)]


def _words(unit: ObjectFile, name: str, offset: int) -> list[Expr]:
    found: list[Expr] = []
    for section, address in unit.places(name):
        relocation = unit.relocation(section, address + offset)
        if relocation is not None:
            found.append(Symbol(relocation.symbol, relocation.offset))
            continue
        with suppress(KeyError, IndexError):  # nothing but zeros, or behind the end
            found.append(Const(unit.word(section, address + offset)))
    return found
