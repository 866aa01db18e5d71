"""Edits: byte ranges of the original and what stands there afterwards."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from scanner.report.errors import InternalError


@dataclass(frozen=True, order=True)
class Edit:
    """Replaces [start, end); start == end inserts."""

    start: int
    end: int
    replacement: bytes


def apply_edits(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The edited text. Edits may touch but not overlap; insertions at one place keep their order.

    Raises InternalError on an overlap: two rules claimed the same bytes.
    """
    pieces: list[bytes] = []
    position = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < position or edit.end < edit.start or edit.end > len(data):
            raise InternalError(f"overlapping edits at byte {edit.start}")
        pieces += (data[position : edit.start], edit.replacement)
        position = edit.end
    pieces.append(data[position:])
    return b"".join(pieces)
