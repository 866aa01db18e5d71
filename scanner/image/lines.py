"""Source lines of addresses, from DWARF 2 to 5 line programs (DWARF 5, section 6.2).

pyelftools reads these too, but counts and lengths that lie make it run or allocate without end,
and it keeps every row. This decoder runs each program once, keeps only the rows asked for, takes
time in proportion to the section, and cuts names and lists of files that no compiler writes.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property

from scanner.image.compile_folders import compile_folders
from scanner.image.debug_entries import FORM_LINE_STRP, FORM_STRP, DebugSections
from scanner.image.dwarf import NAME_BYTES, EndOfDataError, Reader
from scanner.image.inlined import InlinedCall, inlined_calls
from scanner.image.symbols import printable

_ADDRESS_MASK = 0xFFFFFFFF
_PATH, _DIRECTORY_INDEX = 1, 2
_FORM_BLOCK, _FORM_STRING, _FORM_UDATA = 0x09, 0x08, 0x0F
_FIXED_FORMS = {0x0B: 1, 0x05: 2, 0x06: 4, 0x07: 8, 0x1E: 16}
_MAX_FILES = 1 << 15


_SET_ADDRESS = re.compile(rb"\x00\x05\x02(?=(.{4}))", re.DOTALL)
"""DW_LNE_set_address with an address of four bytes."""

_NEAREST = 4


class LineTable:
    """The three sections that line programs live in; any of them may be empty.

    `debug` gives, when asked, what tells the folder that each unit was compiled in, and calls that
    were inlined.
    """

    def __init__(
        self,
        lines: bytes,
        line_strings: bytes,
        strings: bytes,
        debug: Callable[[], DebugSections] = DebugSections,
    ) -> None:
        self._lines, self._debug = lines, cache(debug)
        self._strings = {FORM_LINE_STRP: line_strings, FORM_STRP: strings}

    def locate(self, addresses: Iterable[int], joined: bool = False) -> dict[int, str]:
        """`file:line` for each of the addresses that a line program covers.

        Files are called what the compiler was given; `joined` puts the folder in front that it
        ran in.
        """
        wanted = sorted(set(addresses))
        places = self._places(wanted)
        found: dict[int, str] = {}
        folders = self._folders if joined else None
        position = 0
        while places and position + 4 <= len(self._lines):
            length = int.from_bytes(self._lines[position : position + 4], "little")
            unit = Reader(self._lines, position + 4, min(position + 4 + length, len(self._lines)))
            nearest = bisect_left(places, position)
            folder = None if folders is None else folders.get(position, b"")
            position += 4 + length
            if nearest == len(places) or places[nearest] >= position:
                continue  # nothing that is wanted
            try:
                program = _header(unit, self._strings, folder)
                _run(program, unit, wanted, found)
            except EndOfDataError:
                continue  # a unit that lies about itself: the next may be sound
        return found

    def inlined(
        self, addresses: Iterable[int], joined: bool = False
    ) -> dict[int, tuple[InlinedCall, ...]]:
        """The calls whose callee's body an address is in, the innermost first; files as above."""
        folders = self._folders if joined else None

        @cache
        def files(position: int) -> _Program | None:
            length = int.from_bytes(self._lines[position : position + 4], "little")
            unit = Reader(self._lines, position + 4, min(position + 4 + length, len(self._lines)))
            folder = None if folders is None else folders.get(position, b"")
            try:
                return _header(unit, self._strings, folder)
            except EndOfDataError:
                return None

        def name(position: int, number: int) -> str | None:
            program = files(position)
            return None if program is None else program.file(number)

        return inlined_calls(self._debug(), name, addresses)

    @cached_property
    def _folders(self) -> dict[int, bytes]:
        return compile_folders(self._debug())

    def _places(self, wanted: list[int]) -> list[int]:
        """Where in the section stands what sets the address to shortly before a wanted one.

        Other bytes may look like that, so of what lies before an address the nearest few count.
        """
        starts: dict[int, list[int]] = {}
        for match in _SET_ADDRESS.finditer(self._lines):
            starts.setdefault(int.from_bytes(match[1], "little"), []).append(match.start())
        order = sorted(starts)
        chosen: set[int] = set()
        for address in wanted:
            behind = bisect_right(order, address)
            chosen.update(order[max(behind - _NEAREST, 0) : behind])
        return sorted(place for start in chosen for place in starts[start])


@dataclass(frozen=True)
class _Program:
    minimum_length: int
    line_base: int
    line_range: int
    operand_counts: bytes
    files: tuple[bytes, ...]

    def file(self, number: int) -> str:
        return printable(self.files[number]) if number < len(self.files) else "?"


def _header(unit: Reader, strings: dict[int, bytes], folder: bytes | None) -> _Program:
    """Read the unit's header and leave the reader at its first opcode.

    `folder` is where the unit was compiled, or None if files are to be called as they were given.
    """
    version = unit.unsigned(2)
    if not 2 <= version <= 5:
        raise EndOfDataError
    if version == 5:
        unit.take(2)  # address and segment selector size
    first_opcode = unit.unsigned(4)
    first_opcode += unit.position
    minimum_length = unit.unsigned(1)
    if version >= 4:
        unit.take(1)  # operations per instruction: 1 on every core here
    unit.take(1)  # default is_stmt
    line_base = int.from_bytes(unit.take(1), "little", signed=True)
    line_range = unit.unsigned(1)
    operand_counts = b"\0" + unit.take(max(unit.unsigned(1) - 1, 0))
    files = _files5(unit, strings, folder) if version == 5 else _files2(unit, folder or b"")
    unit.position = first_opcode
    if line_range == 0 or first_opcode > unit.end:
        raise EndOfDataError
    return _Program(minimum_length, line_base, line_range, operand_counts, files)


def _files2(unit: Reader, folder: bytes) -> tuple[bytes, ...]:
    directories = [folder]
    while name := unit.text():
        directories.append(_under(folder, name))
    files = [b"?"]  # numbers begin at 1
    while name := unit.text():
        directory = unit.uleb128()
        unit.uleb128()
        unit.uleb128()
        files.append(_join(directories, directory, name))
        if len(files) > _MAX_FILES:
            raise EndOfDataError
    return tuple(files)


def _files5(unit: Reader, strings: dict[int, bytes], folder: bytes | None) -> tuple[bytes, ...]:
    directories = [name for name, _ in _entries5(unit, strings)]
    if directories and folder is None:
        directories[0] = b""  # where the compiler ran; paths are shown as it was given them
    elif directories:
        directories = [_under(directories[0], name) for name in directories]
    return tuple(_join(directories, index, name) for name, index in _entries5(unit, strings))


def _entries5(unit: Reader, strings: dict[int, bytes]) -> list[tuple[bytes, int]]:
    formats = [(unit.uleb128(), unit.uleb128()) for _ in range(unit.unsigned(1))]
    count = unit.uleb128()
    if count > min(unit.end - unit.position, _MAX_FILES):
        raise EndOfDataError  # no entry is smaller than a byte
    entries = []
    for _ in range(count):
        name, directory = b"", 0
        for content, form in formats:
            value = _form(unit, form, strings)
            if content == _PATH and isinstance(value, bytes):
                name = value
            elif content == _DIRECTORY_INDEX and isinstance(value, int):
                directory = value
        entries.append((name, directory))
    return entries


def _form(unit: Reader, form: int, strings: dict[int, bytes]) -> bytes | int:
    if form == _FORM_STRING:
        return unit.text()
    if form == _FORM_UDATA:
        return unit.uleb128()
    if form == _FORM_BLOCK:
        return unit.take(unit.uleb128())
    if form in strings:
        start = unit.unsigned(4)
        return strings[form][start : start + NAME_BYTES].partition(b"\0")[0]
    if form in _FIXED_FORMS:
        return unit.unsigned(_FIXED_FORMS[form])
    raise EndOfDataError


def _join(directories: list[bytes], index: int, name: bytes) -> bytes:
    directory = directories[index] if index < len(directories) else b""
    return _under(directory, name)


def _under(folder: bytes, name: bytes) -> bytes:
    """A path that may be absolute, on Windows too."""
    absolute = name.startswith((b"/", b"\\")) or name[1:3] in (b":/", b":\\")
    return name if not folder or absolute else folder + b"/" + name


def _run(program: _Program, unit: Reader, wanted: list[int], found: dict[int, str]) -> None:
    """Execute a line program; rows between which a wanted address lies go into `found`."""
    opcode_base = len(program.operand_counts)
    sequence = _Sequence(program, wanted, found)
    address, file, line = 0, 1, 1
    while unit.position < unit.end:
        opcode = unit.data[unit.position]
        unit.position += 1
        if opcode >= opcode_base:
            opcode -= opcode_base
            address += (opcode // program.line_range) * program.minimum_length
            line += program.line_base + opcode % program.line_range
            sequence.row(address, file, line)
        elif opcode == 0:
            body = unit.take(unit.uleb128())
            if body[:1] == b"\x01":  # end_sequence
                sequence.row(address, file, line)
                sequence = _Sequence(program, wanted, found)
                address, file, line = 0, 1, 1
            elif body[:1] == b"\x02":  # set_address
                address = int.from_bytes(body[1:5], "little")
        elif opcode == 1:  # copy
            sequence.row(address, file, line)
        elif opcode == 2:  # advance_pc
            address += unit.uleb128() * program.minimum_length
        elif opcode == 3:  # advance_line
            line += unit.sleb128()
        elif opcode == 4:  # set_file
            file = unit.uleb128()
        elif opcode == 8:  # const_add_pc
            address += ((255 - opcode_base) // program.line_range) * program.minimum_length
        elif opcode == 9:  # fixed_advance_pc
            address += unit.unsigned(2)
        else:
            for _ in range(program.operand_counts[opcode]):
                unit.uleb128()
        address &= _ADDRESS_MASK


class _Sequence:
    """Rows of rising addresses; a row holds up to the next one.

    Sequences of functions that the linker threw away start at address 0 and are passed over.
    """

    def __init__(self, program: _Program, wanted: list[int], found: dict[int, str]) -> None:
        self._program, self._wanted, self._found = program, wanted, found
        self._row: tuple[int, int, int] | None = None
        self._next = 0  # position in wanted of the first address not below the row

    def row(self, address: int, file: int, line: int) -> None:
        if self._row is None:
            self._next = bisect_left(self._wanted, address) if address else len(self._wanted)
        elif address > self._row[0]:
            while self._next < len(self._wanted) and self._wanted[self._next] < address:
                place = f"{self._program.file(self._row[1])}:{self._row[2]}"
                self._found.setdefault(self._wanted[self._next], place)
                self._next += 1
        self._row = (address, file, line)
