"""The folders that units were compiled in: DW_AT_comp_dir (DWARF 5, section 3.1.1).

Only the first entry of each unit is read. A line program of version 5 has the folder itself, but
assemblers write older ones for units of that version.
"""

from __future__ import annotations

from scanner.image.dwarf import NAME_BYTES, EndOfDataError, Reader

DebugSections = tuple[bytes, bytes]
"""Of `.debug_info` and `.debug_abbrev` the content."""

_LINES, _FOLDER = 0x10, 0x1B
_STRING, _CONSTANT = 0x08, 0x21
_FIXED = {
    0x01: 4, 0x05: 2, 0x06: 4, 0x07: 8, 0x0B: 1, 0x0C: 1, 0x0E: 4, 0x10: 4, 0x11: 1, 0x12: 2,
    0x13: 4, 0x14: 8, 0x17: 4, 0x19: 0, 0x1E: 16, 0x1F: 4, 0x20: 8,
    0x25: 1, 0x26: 2, 0x27: 3, 0x28: 4, 0x29: 1, 0x2A: 2, 0x2B: 3, 0x2C: 4,
}  # fmt: skip
_NUMBERS = 0x0D, 0x0F, 0x15, 0x1A, 0x1B, 0x22, 0x23
_BLOCKS = {0x03: 2, 0x04: 4, 0x0A: 1}
_COUNTED = 0x09, 0x18
_COMPILED, _PARTIAL = 1, 3
_MOST = 64
"""So many declarations before that of the unit, and attributes of each."""

_MOST_IN_ALL = 1 << 20
"""Attributes and units that are read of a file: seconds, whatever it claims."""


def compile_folders(
    info: bytes, abbreviations: bytes, strings: dict[int, bytes]
) -> dict[int, bytes]:
    """By the place of a unit's line program in its section, the folder it was compiled in.

    `strings` are the sections of strings by the form that refers to them.
    """
    folders: dict[int, bytes] = {}
    units = _Units(abbreviations, strings)
    position = 0
    while position + 4 <= len(info) and units.read < _MOST_IN_ALL:
        length = int.from_bytes(info[position : position + 4], "little")
        unit = Reader(info, position + 4, min(position + 4 + length, len(info)))
        position += 4 + length
        try:
            found = units.first_entry(unit)
        except EndOfDataError:
            continue  # a unit that lies about itself: the next may be sound
        lines, folder = found.get(_LINES), found.get(_FOLDER)
        if isinstance(lines, int) and isinstance(folder, bytes):
            folders[lines] = folder
    return folders


class _Units:
    """Reads first entries; `read` counts what that took."""

    def __init__(self, abbreviations: bytes, strings: dict[int, bytes]) -> None:
        self._abbreviations, self._strings = abbreviations, strings
        self.read = 0

    def first_entry(self, unit: Reader) -> dict[int, bytes | int]:
        self.read += 1
        version = unit.unsigned(2)
        if not 2 <= version <= 5:
            raise EndOfDataError
        if version == 5:
            kind = unit.unsigned(1)
            unit.take(1)  # size of an address
            if kind not in (_COMPILED, _PARTIAL):
                return {}
        declared = Reader(self._abbreviations, unit.unsigned(4), len(self._abbreviations))
        if version < 5:
            unit.take(1)
        attributes = self._declaration(declared, unit.uleb128())
        return {name: _value(unit, form, self._strings) for name, form in attributes}

    def _declaration(self, declared: Reader, code: int) -> list[tuple[int, int]]:
        for _ in range(_MOST):
            number = declared.uleb128()
            declared.uleb128()
            declared.take(1)
            attributes = self._attributes(declared)
            if number == code:
                return attributes
        raise EndOfDataError

    def _attributes(self, declared: Reader) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for _ in range(_MOST):
            self.read += 1
            pair = declared.uleb128(), declared.uleb128()
            if pair == (0, 0):
                return found
            if pair[1] == _CONSTANT:
                declared.sleb128()
            found.append(pair)
        raise EndOfDataError


def _value(unit: Reader, form: int, strings: dict[int, bytes]) -> bytes | int:
    if form == _STRING:
        return unit.text()
    if form in strings:
        start = unit.unsigned(4)
        return strings[form][start : start + NAME_BYTES].partition(b"\0")[0]
    if form == _CONSTANT:
        return 0  # it stands in the declaration
    if form in _FIXED:
        return unit.unsigned(_FIXED[form])
    if form in _NUMBERS:
        return unit.uleb128()
    if form in _BLOCKS:
        return unit.take(unit.unsigned(_BLOCKS[form]))
    if form in _COUNTED:
        return unit.take(unit.uleb128())
    raise EndOfDataError
