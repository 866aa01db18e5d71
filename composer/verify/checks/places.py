"""Is every byte where its part may have it, and is there nothing else?"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from composer.verify.findings import span
from composer.verify.manifest import PartEntry, StoredSegment
from composer.verify.memory import ERASED
from composer.verify.subject import Subject, inside

_ALIGNMENT = 4  # a segment may end in fewer bytes than this that nobody stores or reads


def check_areas(subject: Subject) -> Iterator[str]:
    """The memory of the parts: as large as described, inside the chip, nobody's twice."""
    for what in ("flash", "ram"):
        bank = subject.expected.bank(what)
        whole = range(bank.base, bank.base + bank.size)
        areas = []
        for name in subject.part_names:
            area = subject.flash_of(name) if what == "flash" else subject.ram_of(name)
            areas.append((area.start, area.stop, name))
            if not inside(area.start, len(area), whole):
                yield f"{what} of '{name}', {span(area.start, area.stop)}, is outside {bank.name}"
        for domain, row in zip(subject.expected.domains, subject.tables.domains, strict=True):
            asked = domain.flash if what == "flash" else domain.ram
            given = row.flash_size if what == "flash" else row.ram_size
            if not asked <= given <= _power_of_two(asked):
                yield f"{what} of '{domain.name}': {given} bytes for {asked} described"
        for before, after in itertools.pairwise(sorted(areas)):
            if after[0] < before[1]:
                yield (
                    f"{what} of '{after[2]}', {span(*after[:2])}, overlaps that of '{before[2]}',"
                    f" {span(*before[:2])}"
                )


def _power_of_two(size: int) -> int:
    """The most that rounding may make of a size."""
    return 1 << max(5, (size - 1).bit_length())


def check_bytes(subject: Subject) -> Iterator[str]:
    """Stored and run ranges of each part, and nothing outside of them."""
    stored: list[tuple[int, int]] = []
    for part in subject.manifest.parts:
        if part.name not in subject.part_names:
            continue
        for segment in part.segments:
            yield from _misplaced(subject, part, segment)
            if segment.size:
                stored.append((segment.load, segment.load + segment.size))
    stored.sort()
    for before, after in itertools.pairwise(stored):
        if after[0] < before[1]:
            yield f"the manifest's segments {span(*before)} and {span(*after)} overlap"
    yield from _foreign(subject, stored)


def _misplaced(subject: Subject, part: PartEntry, segment: StoredSegment) -> Iterator[str]:
    flash, ram = subject.flash_of(part.name), subject.ram_of(part.name)
    stored = span(segment.load, segment.load + segment.size)
    run = span(segment.run, segment.run + segment.run_size)
    if segment.size and not inside(segment.load, segment.size, flash):
        yield f"'{part.name}': {stored} isn't in its flash {span(flash.start, flash.stop)}"
    if segment.size > segment.run_size:
        yield f"'{part.name}': {segment.size} bytes are stored for {segment.run_size} at {run}"
    if inside(segment.run, segment.run_size, flash):
        if segment.run != segment.load or segment.run_size - segment.size >= _ALIGNMENT:
            yield f"'{part.name}': {run} is in flash but isn't what is stored there"
    elif not inside(segment.run, segment.run_size, ram):
        yield f"'{part.name}': {run} is neither in its flash nor in its RAM"
    elif segment.size and not _named(subject, part, segment):
        yield (
            f"'{part.name}': no start-up code names both 0x{segment.load:08x} and"
            f" 0x{segment.run:08x}, so nothing can fill {run}"
        )


def _named(subject: Subject, part: PartEntry, segment: StoredSegment) -> bool:
    """Whether the part holds both addresses as words: its start-up copies from one to the other."""
    words = set()
    for other in part.segments:
        if other.size and other.load == other.run:
            data = subject.memory.find(other.load, other.size) or b""
            words |= {data[at : at + 4] for at in range(0, len(data) - 3, 2)}
    return all(place.to_bytes(4, "little") in words for place in (segment.load, segment.run))


def _foreign(subject: Subject, stored: list[tuple[int, int]]) -> Iterator[str]:
    """Bytes that no part stored; a binary fills its gaps as erased flash."""
    fills = subject.image.suffix == ".bin"
    for chunk in subject.memory.chunks:
        position = chunk.base
        for start, end in [*stored, (chunk.end, chunk.end)]:
            if end <= position or start > chunk.end:
                continue
            gap = chunk.data[position - chunk.base : max(start, position) - chunk.base]
            if gap and not fills:
                yield f"{span(position, start)} belongs to no part"
            elif gap.strip(bytes([ERASED])):
                place = position + next(at for at, byte in enumerate(gap) if byte != ERASED)
                yield f"the byte at 0x{place:08x} belongs to no part and isn't erased"
            position = max(position, end)
