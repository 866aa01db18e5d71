"""The addresses that an entry of debug information covers (DWARF 5, sections 2.17 and 7.25)."""

from __future__ import annotations

from collections.abc import Iterator

from scanner.image.debug_entries import RANGE_LISTS, DebugSections, Entry, Unit
from scanner.image.dwarf import Reader

LOW, HIGH, RANGES = 0x11, 0x12, 0x55
_SECTION_OFFSET, _LIST_NUMBER, _ADDRESS = 0x17, 0x23, 0x01
_NEW_BASE = 0xFFFFFFFF
_MOST = 1 << 12
"""So many stretches of one entry are read."""

Stretch = tuple[int, int]


def stretches(
    sections: DebugSections, unit: Unit, entry: Entry, forms: dict[int, int]
) -> list[Stretch]:
    """Begins and ends; `forms` tells the form of each attribute.

    What begins at 0 was thrown away by the linker.
    """
    low, high, ranges = entry.get(LOW), entry.get(HIGH), entry.get(RANGES)
    found: list[Stretch] = []
    if isinstance(low, int) and isinstance(high, int):
        absolute = forms[HIGH] == _ADDRESS or forms[HIGH] in (0x1B, 0x29, 0x2A, 0x2B, 0x2C)
        found = [(low, high if absolute else low + high)]
    elif isinstance(ranges, int):
        base = unit.bases.get(LOW, 0)
        first = base if isinstance(base, int) else 0
        if unit.version < 5:
            found = list(_pairs(sections, ranges, first))
        else:
            if forms[RANGES] == _LIST_NUMBER:
                ranges = _numbered(sections, unit, ranges)
            found = list(_listed(sections, unit, ranges, first))
    return [(begin, end) for begin, end in found if begin]


def _pairs(sections: DebugSections, offset: int, base: int) -> Iterator[Stretch]:
    reader = Reader(sections.ranges, offset, len(sections.ranges))
    for _ in range(_MOST):
        sections.spend()
        begin, end = reader.unsigned(4), reader.unsigned(4)
        if begin == end == 0:
            return
        if begin == _NEW_BASE:
            base = end
        else:
            yield base + begin, base + end


def _numbered(sections: DebugSections, unit: Unit, number: int) -> int:
    base = unit.bases.get(RANGE_LISTS, 12)
    first = base if isinstance(base, int) else 12
    lists = sections.range_lists
    return first + Reader(lists, first + 4 * number, len(lists)).unsigned(4)


def _listed(sections: DebugSections, unit: Unit, offset: int, base: int) -> Iterator[Stretch]:
    reader = Reader(sections.range_lists, offset, len(sections.range_lists))
    for _ in range(_MOST):
        sections.spend()
        kind = reader.unsigned(1)
        if kind == 1:
            base = unit.address(reader.uleb128())
        elif kind == 2:
            yield unit.address(reader.uleb128()), unit.address(reader.uleb128())
        elif kind == 3:
            begin = unit.address(reader.uleb128())
            yield begin, begin + reader.uleb128()
        elif kind == 4:
            yield base + reader.uleb128(), base + reader.uleb128()
        elif kind == 5:
            base = reader.unsigned(4)
        elif kind == 6:
            yield reader.unsigned(4), reader.unsigned(4)
        elif kind == 7:
            begin = reader.unsigned(4)
            yield begin, begin + reader.uleb128()
        else:
            return  # the end, or what nobody knows
