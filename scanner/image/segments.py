"""Checks of a program's segments that hold for every format and architecture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from scanner.image.model import Problem, Segment, span

_ADDRESS_END = 1 << 32
_SHOWN = 3


def segment_problems(segments: Sequence[Segment], entry: int | None) -> Iterator[Problem]:
    """Sizes that lie, overlaps in memory and in flash, memory that is writable and executable."""
    for segment in segments:
        yield from _lies(segment)
        if segment.writable and segment.executable:
            text = f"{span(segment.address, segment.end)} is writable and executable"
            yield Problem("wx-segment", text, segment.address)
    yield from _overlaps(segments)
    executable = [segment for segment in segments if segment.executable and segment.data]
    if not executable:
        yield Problem("elf-malformed", "no executable segment")
    elif entry is not None and not any(s.address <= entry < s.end for s in executable):
        yield Problem("elf-malformed", f"the entry 0x{entry:08x} is in no executable segment")


def entry_problems(segments: Sequence[Segment], entries: Iterable[int]) -> Iterator[Problem]:
    """Entries that a user names and that are not in the code."""
    code = [segment for segment in segments if segment.executable and segment.data]
    for entry in entries:
        if code and not any(s.address <= entry < s.address + len(s.data) for s in code):
            where = ", ".join(span(s.address, s.address + len(s.data)) for s in code[:_SHOWN])
            yield Problem("raw-range", f"the entry 0x{entry:08x} is outside of the code, {where}")


def _lies(segment: Segment) -> Iterator[Problem]:
    if len(segment.data) > segment.memory_size:
        text = f"{len(segment.data)} bytes in the file for {segment.memory_size} bytes of memory"
        yield Problem("elf-malformed", text, segment.address)
    if segment.end > _ADDRESS_END or segment.load_address + len(segment.data) > _ADDRESS_END:
        text = f"{span(segment.address, segment.end)} passes the end of the address space"
        yield Problem("elf-malformed", text, segment.address)


def _overlaps(segments: Sequence[Segment]) -> Iterator[Problem]:
    in_memory = [(s.address, s.end) for s in segments]
    in_flash = [(s.load_address, s.load_address + len(s.data)) for s in segments if s.data]
    for where, spans in (("memory", in_memory), ("flash", in_flash)):
        spans.sort()
        for (start, end), (next_start, next_end) in pairwise(spans):
            if next_start < end:
                text = f"{span(start, end)} and {span(next_start, next_end)} overlap in {where}"
                yield Problem("elf-overlap", text, next_start)
