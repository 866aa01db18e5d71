"""Where a finding stands in the sources, for tools that show it there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from scanner.report.finding import Finding


@dataclass(frozen=True)
class SourcePlace:
    """A file, from the current folder if it lies inside, and a line from 1."""

    file: str
    line: int


def source_place(finding: Finding) -> SourcePlace | None:
    """The line that debug information names; None if there is none."""
    return place_of(finding.source)


def place_of(source: str | None) -> SourcePlace | None:
    """The same of `file:line`."""
    file, _, line = (source or "").rpartition(":")
    if not file or not line.isdecimal() or int(line) < 1:
        return None
    return SourcePlace(from_here(file), int(line))


def from_here(file: str) -> str:
    """A path from the current folder if it lies inside, else as it is."""
    path, here = Path(file), Path.cwd()
    inside = path.is_absolute() and path.is_relative_to(here)
    return (path.relative_to(here) if inside else path).as_posix()
