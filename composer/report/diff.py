"""A unified diff as lines to show."""

from __future__ import annotations

import re
from dataclasses import dataclass

from composer.report.text import CodeLine, coloured, decoded

_HUNK = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@")


@dataclass(frozen=True)
class DiffLine:
    """One line; `old` and `new` are its numbers, None where it isn't on that side."""

    sign: str
    old: int | None
    new: int | None
    code: CodeLine

    @property
    def css(self) -> str:
        """Its class in the style sheet."""
        return {"+": "add", "-": "del"}.get(self.sign, "same")


@dataclass(frozen=True)
class Hunk:
    """Changed lines and those around them; [first, last] in the original."""

    first: int
    last: int
    lines: tuple[DiffLine, ...]


def hunks(diff: bytes) -> tuple[Hunk, ...]:
    """The hunks of one file's diff, made by porter.output.unified_diff."""
    found: list[tuple[list[int], list[str]]] = []
    for line in decoded(diff):
        if header := _HUNK.match(line):
            found.append(([int(number) for number in header.groups()], []))
        elif found and line[:1] in ("+", "-", " "):
            found[-1][1].append(line)
    return tuple(_hunk(numbers, lines) for numbers, lines in found)


def _hunk(numbers: list[int], lines: list[str]) -> Hunk:
    first, count, new, _ = numbers
    # Each side is coloured as a whole, so that a comment over several lines stays one.
    before = iter(coloured([line[1:] for line in lines if line[0] != "+"]))
    after = iter(coloured([line[1:] for line in lines if line[0] != "-"]))
    old, shown = first, []
    for line in lines:
        sign = line[0]
        code = next(before) if sign == "-" else next(after)
        if sign == " ":
            next(before)
        shown.append(
            DiffLine(sign, None if sign == "+" else old, None if sign == "-" else new, code)
        )
        old += sign != "+"
        new += sign != "-"
    return Hunk(first, first + max(count, 1) - 1, tuple(shown))
