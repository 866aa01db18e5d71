"""A baseline: the findings that a project lives with today, so that only new ones stop a build.

It holds the fingerprints of findings by file, in JSON that can be kept beside the sources: a new
line in its diff is a new finding that somebody accepted. Findings on a file as a whole never go
into a baseline: a file that can't be trusted has no findings to compare.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scanner.report.documents import ShapeError, field, read_document
from scanner.report.errors import FvmError, MissingError
from scanner.report.finding import FileReport, fingerprints
from scanner.report.one_line import one_line

_HINT = "write it with --write-baseline"


@dataclass(frozen=True)
class Baseline:
    """By file, named from the folder of the baseline: fingerprints, and the finding in words."""

    path: str
    files: dict[str, dict[str, str]]

    def known(self, file: str) -> dict[str, str]:
        """What is known of a file: fingerprints, and the finding in words."""
        return self.files.get(_key(self.path, file), {})

    def gone(self, report: FileReport) -> list[str]:
        """In words, what is known of the file and is not among its findings any more."""
        there = set(fingerprints(report.file, report.findings))
        known = self.known(report.file)
        return [f"{one_line(report.file)}: {known[name]}" for name in known if name not in there]


def load_baseline(path: str) -> Baseline:
    """Read a baseline. Raises MissingError if it can't be opened, FvmError if it is no such."""
    document = read_document(path, "baseline", _HINT)
    try:
        files = field(document, "files", dict)
        return Baseline(path, {file: _findings(files, file) for file in files})
    except ShapeError as error:
        raise FvmError(f"not a baseline: {error}", file=path, hint=_HINT) from None


def write_baseline(path: str, reports: Iterable[FileReport]) -> Baseline:
    """Write what the reports hold as the new baseline. Raises MissingError where that fails."""
    files = {}
    for report in reports:
        pairs = zip(fingerprints(report.file, report.findings), report.findings, strict=True)
        files[_key(path, report.file)] = {
            name: f"{finding.rule}: {finding.text}"
            + ("" if finding.function is None else f" in {finding.function}")
            for name, finding in pairs
            if finding.address is not None
        }
    text = json.dumps({"schema": 1, "files": files}, indent=2, sort_keys=True) + "\n"
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise MissingError(f"can't write: {error.strerror}", file=path) from None
    return Baseline(path, files)


def check_replaceable(path: str) -> None:
    """Raise MissingError if writing a baseline there would destroy anything but a baseline."""
    if os.path.lexists(path):
        try:
            load_baseline(path)
        except FvmError:
            raise MissingError(
                "is there and no baseline, so it isn't overwritten",
                file=path,
                hint="name another file, or remove this one",
            ) from None


def _key(path: str, file: str) -> str:
    return Path(os.path.relpath(file, os.path.dirname(path) or ".")).as_posix()


def _findings(files: Any, file: str) -> dict[str, str]:
    known: dict[str, str] = field(files, file, dict)
    if not all(type(words) is str for words in known.values()):
        raise ShapeError(f"'{one_line(file)}' does not hold findings")
    return {name: one_line(words) for name, words in known.items()}
