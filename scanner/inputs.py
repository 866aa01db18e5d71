"""The files that a command line means: those that it names, and the programs in folders."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from scanner.image.load import no_program
from scanner.report.errors import MissingError
from scanner.report.one_line import one_line

_BEGINNING = 4096
_SHOWN = 3


@dataclass(frozen=True)
class Skipped:
    """A file of a folder that was not scanned, and why."""

    file: str
    reason: str


def gather(names: Iterable[str], raw: bool) -> Iterator[str | Skipped | MissingError]:
    """Files to scan, and what of a folder is left out; a file that is named is never left out.

    A folder that can't be read, or holds no program, is an error among the rest.

    Folders are entered to any depth, but neither links nor hidden folders are followed. What a
    folder holds by the name of *.bin is taken for a raw binary if it begins with a vector table;
    with `raw` any such file is.
    """
    for name in names:
        if os.path.isdir(name):
            yield from _folder(name, raw)
        else:
            yield name


def skipped_lines(skipped: Iterable[Skipped]) -> Iterator[str]:
    """One line for each reason, with the first few files."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for one in skipped:
        by_reason[one.reason].append(one_line(one.file))
    for reason, files in by_reason.items():
        more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
        yield f"not scanned, {reason}: {', '.join(islice(files, _SHOWN))}{more}"


def _folder(name: str, raw: bool) -> Iterator[str | Skipped | MissingError]:
    found = False
    errors: list[OSError] = []
    for folder, folders, files in os.walk(name, onerror=errors.append):
        folders.sort()
        for hidden in [one for one in folders if one.startswith(".")]:
            folders.remove(hidden)
            yield Skipped(os.path.join(folder, hidden), "a hidden folder")
        for linked in [one for one in folders if os.path.islink(os.path.join(folder, one))]:
            yield Skipped(os.path.join(folder, linked), "a link to a folder")
        for file in sorted(files):
            path = os.path.join(folder, file)
            reason = _reason(Path(path), raw)
            found = found or reason is None
            yield path if reason is None else Skipped(path, reason)
    for error in errors:
        yield MissingError(f"can't open: {error.strerror}", file=error.filename)
    if not found:
        yield MissingError("no program in this folder", file=name)


def _reason(path: Path, raw: bool) -> str | None:
    if path.is_symlink():
        return "a link"
    if not path.is_file():
        return "not a regular file"
    try:
        with path.open("rb") as stream:
            beginning = stream.read(_BEGINNING)
    except OSError:
        return None  # to be told by whoever opens it next
    if path.suffix.lower() == ".bin" and (raw or _has_table(beginning, path.stat().st_size)):
        return None
    return no_program(beginning)


def _has_table(beginning: bytes, size: int) -> bool:
    from scanner.raw_base import begins_with_table  # slow to import, and few need it

    return begins_with_table(beginning, size)
