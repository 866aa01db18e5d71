"""All that one call of the command has to report."""

from __future__ import annotations

from dataclasses import dataclass

from scanner.inputs import Skipped
from scanner.report.finding import FileReport


@dataclass(frozen=True)
class Run:
    """`notes` are sentences about the call itself: waivers that cover nothing any more."""

    reports: tuple[FileReport, ...]
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
