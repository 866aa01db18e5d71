"""Checks of a program's segments that hold for every format and architecture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from scanner.image.model import Problem, Segment, span
from scanner.policy import Grant

_ADDRESS_END = 1 << 32
_SHOWN = 3


def segment_problems(segments: Sequence[Segment], entry: int | None) -> Iterator[Problem]:
    """Sizes that lie, overlaps in memory and in flash, an entry that leads nowhere."""
    for segment in segments:
        yield from _lies(segment)
    yield from _overlaps(segments)
    stored = [segment for segment in segments if segment.data]
    if not any(segment.executable for segment in stored):
        yield Problem("elf-malformed", "no executable segment")
    elif entry is not None and not any(s.address <= entry < s.end for s in stored):
        yield Problem("elf-malformed", f"the entry 0x{entry:08x} is in no segment of the file")


def wx_problems(segments: Iterable[Segment], grants: Sequence[Grant] | None) -> Iterator[Problem]:
    """Memory that is writable and executable.

    Linkers write many a segment so whose memory is neither on the chip; where the domain's
    `grants` are known, they decide.
    """
    for segment in segments:
        if segment.writable and segment.executable:
            text = f"{span(segment.address, segment.end)} is writable and executable"
            if grants is None:
                yield Problem("wx-segment", text, segment.address, rejects=False)
            elif any(
                it.kind == "code"
                and it.writable
                and it.base < segment.end
                and segment.address < it.end
                for it in grants
            ):
                yield Problem("wx-segment", f"{text}, and so is its grant", segment.address)


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
    """Two contents for one place. One content twice, or none, puts nobody in doubt."""
    stored = [segment for segment in segments if segment.data]
    in_memory = [(s.address, s.data) for s in stored]
    in_flash = [(s.load_address, s.data) for s in stored]
    for where, pieces in (("memory", in_memory), ("flash", in_flash)):
        pieces.sort(key=lambda piece: piece[0])
        for (start, data), (following, other) in pairwise(pieces):
            end, last = start + len(data), following + len(other)
            both = min(end, last) - following
            if following < end and data[following - start :][:both] != other[:both]:
                text = f"{span(start, end)} and {span(following, last)} overlap in {where}"
                yield Problem("elf-overlap", text, following)
