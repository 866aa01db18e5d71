"""Debugging information entries, read one after the other (DWARF 5, chapters 2 and 7).

Declarations are read when an entry first needs them, and all that is read is counted, so that a
file that lies about itself costs seconds at most.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from scanner.image.dwarf import NAME_BYTES, EndOfDataError, Reader

FORM_STRP, FORM_LINE_STRP = 0x0E, 0x1F
"""Forms that mean `.debug_str` and `.debug_line_str`."""

_STRING, _INDIRECT, _CONSTANT, _FLAG = 0x08, 0x16, 0x21, 0x19
_FIXED = {
    0x01: 4, 0x05: 2, 0x06: 4, 0x07: 8, 0x0B: 1, 0x0C: 1, 0x0E: 4, 0x10: 4, 0x11: 1, 0x12: 2,
    0x13: 4, 0x14: 8, 0x17: 4, 0x19: 0, 0x1E: 16, 0x1F: 4, 0x20: 8, 0x21: 0,
    0x25: 1, 0x26: 2, 0x27: 3, 0x28: 4, 0x29: 1, 0x2A: 2, 0x2B: 3, 0x2C: 4,
}  # fmt: skip
_NUMBERS, _SIGNED = (0x0F, 0x15, 0x1A, 0x1B, 0x22, 0x23), 0x0D
_BLOCKS = {0x03: 2, 0x04: 4, 0x0A: 1}
_COUNTED = 0x09, 0x18
_INDEXED_STRINGS = 0x1A, 0x25, 0x26, 0x27, 0x28
_INDEXED_ADDRESSES = 0x1B, 0x29, 0x2A, 0x2B, 0x2C
_INDEXED = {*_INDEXED_STRINGS, *_INDEXED_ADDRESSES}
_WITHIN_UNIT = 0x11, 0x12, 0x13, 0x14, 0x15

STRING_OFFSETS, ADDRESSES, RANGE_LISTS = 0x72, 0x73, 0x74
"""Attributes that say where a unit's part of an index begins."""

_MOST_ATTRIBUTES = 64
_COMPILED, _PARTIAL = 1, 3

Value = bytes | int
Entry = dict[int, Value]


class Declaration(NamedTuple):
    """What entries with one code hold; `size` is their bytes, where all have the same."""

    tag: int
    children: bool
    attributes: tuple[tuple[int, int, int], ...]
    size: int | None


@dataclass
class DebugSections:
    """The sections that entries live in and lead to. `strings` are by the form that means them."""

    info: bytes = b""
    abbreviations: bytes = b""
    strings: Mapping[int, bytes] = field(default_factory=dict)
    string_offsets: bytes = b""
    addresses: bytes = b""
    ranges: bytes = b""
    range_lists: bytes = b""
    left: int = 1 << 21
    """So much is still read: entries and declared attributes."""

    def spend(self, amount: int = 1) -> None:
        """Raise EndOfDataError if it was too much."""
        self.left -= amount
        if self.left < 0:
            raise EndOfDataError

    def units(self) -> list[tuple[int, int]]:
        """Where units begin, and end."""
        found: list[tuple[int, int]] = []
        position = 0
        while position + 4 <= len(self.info) and self.left > len(found):
            length = int.from_bytes(self.info[position : position + 4], "little")
            found.append((position, min(position + 4 + length, len(self.info))))
            position += 4 + length
        return found


class Unit:
    """One unit; `reader` stands at the code of an entry. Raises EndOfDataError if it is none."""

    def __init__(self, sections: DebugSections, begin: int, end: int) -> None:
        self._sections, self.begin = sections, begin
        self.reader = reader = Reader(sections.info, begin + 4, end)
        sections.spend()
        self.version = reader.unsigned(2)
        if not 2 <= self.version <= 5:
            raise EndOfDataError
        if self.version == 5:
            kind = reader.unsigned(1)
            reader.take(1)  # size of an address
            if kind not in (_COMPILED, _PARTIAL):
                raise EndOfDataError
        offset = reader.unsigned(4)
        if self.version < 5:
            reader.take(1)
        abbreviations = sections.abbreviations
        self._declared = Reader(abbreviations, offset, len(abbreviations))
        self._declarations: dict[int, Declaration] = {}
        self._first = reader.position
        self.bases: Entry = {}

    def declaration(self, code: int) -> Declaration:
        """What entries with this code hold."""
        while code not in self._declarations:
            self._sections.spend()
            number = self._declared.uleb128()
            if number == 0:
                raise EndOfDataError
            tag, children = self._declared.uleb128(), self._declared.unsigned(1)
            attributes = self._attributes()
            sizes = [_FIXED.get(form, -1) for _, form, _ in attributes]
            size = None if -1 in sizes else sum(sizes)
            self._declarations[number] = Declaration(tag, bool(children), attributes, size)
        return self._declarations[code]

    def _attributes(self) -> tuple[tuple[int, int, int], ...]:
        declared = self._declared
        found: list[tuple[int, int, int]] = []
        for _ in range(_MOST_ATTRIBUTES):
            self._sections.spend()
            name, form = declared.uleb128(), declared.uleb128()
            if (name, form) == (0, 0):
                return tuple(found)
            found.append((name, form, declared.sleb128() if form == _CONSTANT else 0))
        raise EndOfDataError

    def skip(self, declaration: Declaration) -> None:
        """Pass over an entry's attributes."""
        self._sections.spend()
        if declaration.size is not None:
            self.reader.take(declaration.size)
            return
        for _, form, _ in declaration.attributes:
            _raw(self.reader, form)

    def entry(self, declaration: Declaration) -> Entry:
        """An entry's attributes; references to entries as places in the section."""
        self._sections.spend(1 + len(declaration.attributes))
        return {
            name: constant if form == _CONSTANT else self._value(form)
            for name, form, constant in declaration.attributes
        }

    @property
    def root_declaration(self) -> Declaration:
        """What the unit's own entry holds."""
        reader = Reader(self.reader.data, self._first, self.reader.end)
        return self.declaration(reader.uleb128())

    def root(self) -> Entry:
        """The unit's own entry, the first; later ones are read by what it says."""
        self.bases = self.at(self._first)
        forms = {form for _, form, _ in self.root_declaration.attributes}
        if forms & _INDEXED:  # its own bases may stand behind what needs them
            self.bases = self.at(self._first)
        return self.bases

    def at(self, place: int) -> Entry:
        """The entry at a place of the section."""
        self.reader.position = place
        return self.entry(self.declaration(self.reader.uleb128()))

    def address(self, number: int) -> int:
        """An address by its number."""
        return self._indexed(self._sections.addresses, ADDRESSES, number)

    def _indexed(self, section: bytes, base: int, number: int) -> int:
        first = self.bases.get(base, 8)
        if not isinstance(first, int):
            raise EndOfDataError
        return Reader(section, first + 4 * number, len(section)).unsigned(4)

    def _value(self, form: int) -> Value:
        while form == _INDIRECT:
            form = self.reader.uleb128()
        value, strings = _raw(self.reader, form), self._sections.strings
        if isinstance(value, bytes):
            return value
        if form in strings:
            return _text(strings[form], value)
        if form in _INDEXED_STRINGS:
            if STRING_OFFSETS not in self.bases:
                return b""
            offset = self._indexed(self._sections.string_offsets, STRING_OFFSETS, value)
            return _text(strings.get(FORM_STRP, b""), offset)
        if form in _INDEXED_ADDRESSES:
            return self.address(value) if ADDRESSES in self.bases else 0
        return value + self.begin if form in _WITHIN_UNIT else value


def _text(strings: bytes, start: int) -> bytes:
    return strings[start : start + NAME_BYTES].partition(b"\0")[0]


def _raw(reader: Reader, form: int) -> Value:
    """An attribute as it stands there."""
    while form == _INDIRECT:
        form = reader.uleb128()
    if form == _FLAG:
        return 1
    if form in _FIXED:
        return reader.unsigned(_FIXED[form])
    if form in _NUMBERS:
        return reader.uleb128()
    if form == _SIGNED:
        return reader.sleb128()
    if form == _STRING:
        return reader.text()
    if form in _BLOCKS:
        return reader.take(reader.unsigned(_BLOCKS[form]))
    if form in _COUNTED:
        return reader.take(reader.uleb128())
    raise EndOfDataError
