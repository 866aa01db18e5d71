"""Sections beside segments: a chip is loaded by the one, but objcopy makes images by the other.

Both must speak of the same bytes, or what was scanned isn't what is flashed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scanner.image.elf_tables import Section
from scanner.image.model import Problem, Segment

_NULL, _NOBITS = 0, 8
_ALLOCATED, _EXECUTABLE, _THREAD_LOCAL = 0x2, 0x4, 0x400
_MOST_PAIRS = 1 << 20
"""So many comparisons at most: programs have tens of sections and a few segments."""


def section_problems(table: Sequence[Section], segments: Sequence[Segment]) -> Iterator[Problem]:
    """The first section in memory of which the segments say something else."""
    in_memory = [s for s in table if s.flags & _ALLOCATED and s.size and s.type != _NULL]
    if len(in_memory) * len(segments) > _MOST_PAIRS:
        text = f"{len(in_memory)} sections in {len(segments)} segments: no linker's output"
        yield Problem("elf-malformed", text)
        return
    stored = [section for section in in_memory if section.type != _NOBITS]
    empty = [s for s in in_memory if s.type == _NOBITS and not s.flags & _THREAD_LOCAL]
    wrong = (s.address for s in stored if not any(_agrees(s, segment) for segment in segments))
    address = next(wrong, None)
    if address is None:
        address = _hidden_bytes(empty, segments)
    if address is not None:
        text = (
            f"sections and segments disagree on what lies at 0x{address:08x}: a tool that goes by"
            " sections flashes other bytes"
        )
        yield Problem("elf-malformed", text, address)


def _agrees(section: Section, segment: Segment) -> bool:
    """Whether the section's bytes are the segment's, and code at the address that it says.

    Data may be elsewhere: armlink keeps initial values behind the code, in the same segment.
    """
    first = segment.offset
    if first is None or not first <= section.offset:
        return False
    inside = section.offset + section.size <= first + len(segment.data)
    placed = section.address - segment.address == section.offset - first
    return inside and (placed or not section.flags & _EXECUTABLE)


def _hidden_bytes(empty: Sequence[Section], segments: Sequence[Segment]) -> int | None:
    """Where what claims to have no content lies over content that isn't zero."""
    reached = 0  # so that no byte is looked at for every one of many sections that overlap
    for section in sorted(empty, key=lambda section: section.address):
        begin = max(section.address, reached)
        reached = max(reached, section.address + section.size)
        for segment in segments:
            start, end = max(begin - segment.address, 0), reached - segment.address
            content = bytes(segment.data[start : max(end, start)])
            if content.count(0) < len(content):
                return segment.address + start
    return None
