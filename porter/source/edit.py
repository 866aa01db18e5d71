"""Edits: byte ranges of the original and what stands there afterwards."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from scanner.report.errors import InternalError


@dataclass(frozen=True, order=True)
class Edit:
    """Replaces [start, end); start == end inserts."""

    start: int
    end: int
    replacement: bytes


def folded(data: bytes, edits: Iterable[Edit]) -> list[Edit]:
    """Edits of which none lies inside another, in order.

    What becomes of a part of an expression is put into what becomes of the whole, wherever that
    still has the part as it was: in `GPIOA->BSRR = GPIOB->IDR & 3` both sides are rewritten. Two
    edits of the same bytes stay two, which apply_edits refuses.
    """
    found: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
        outer = found[-1] if found else None
        is_part = outer is not None and edit.start < edit.end <= outer.end
        if outer is None or not is_part or (edit.start, edit.end) == (outer.start, outer.end):
            found.append(edit)
            continue
        part = rb"(?<![\w.>])%s(?!\w)" % _spaced(data[edit.start : edit.end])
        text = edit.replacement.replace(b"\\", rb"\\")  # a template has none as it is
        found[-1] = replace(outer, replacement=re.sub(part, text, outer.replacement))
    return found


def _spaced(text: bytes) -> bytes:
    """A pattern for it, with whatever blanks between its words: what macros become has others."""
    return rb"\s*".join(map(re.escape, re.findall(rb"\w+|[^\w\s]", text)))


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
