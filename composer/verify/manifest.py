"""The manifest beside an image, read as any file that somebody may have edited."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from composer.verify.findings import Unreadable
from composer.verify.formats import read_file

_T = TypeVar("_T")
_DIGITS = 10  # of the largest number of 32 bits


@dataclass(frozen=True)
class StoredSegment:
    """A segment of a part: where it is stored, where it runs, what it holds."""

    load: int
    run: int
    size: int
    run_size: int
    sha256: str


@dataclass(frozen=True)
class PartEntry:
    """A part; `elf` is relative to the manifest."""

    name: str
    kind: str
    elf: str
    sha256: str
    segments: tuple[StoredSegment, ...]


@dataclass(frozen=True)
class FileEntry:
    """One of the files of the image."""

    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """All that verify uses."""

    folder: Path
    system: str
    chip: str
    protection: bool
    entry: int
    base: int
    files: dict[str, FileEntry]
    parts: tuple[PartEntry, ...]


def read_manifest(path: Path) -> Manifest:
    """MissingError when there is none, Unreadable when it isn't what link writes."""
    try:
        document = json.loads(
            read_file(path, "manifest").decode("utf-8"),
            parse_int=_integer,
            parse_float=_odd,
            parse_constant=_odd,
        )
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"{path.name} is no JSON: {error}") from None
    if _field(document, "schema", int) != 1:
        raise Unreadable(f"{path.name}: 'schema' is not 1")
    files = _field(document, "files", dict)
    return Manifest(
        folder=path.parent,
        system=_field(document, "system", str),
        chip=_field(document, "chip", str),
        protection=_field(document, "protection", bool),
        entry=_field(document, "entry", int),
        base=_field(document, "base", int),
        files={
            name: FileEntry(_field(entry, "size", int), _field(entry, "sha256", str))
            for name, entry in files.items()
        },
        parts=tuple(_part(entry) for entry in _field(document, "parts", list)),
    )


def _part(entry: Any) -> PartEntry:
    return PartEntry(
        _field(entry, "name", str),
        _field(entry, "kind", str),
        _field(entry, "elf", str),
        _field(entry, "sha256", str),
        tuple(_segment(segment) for segment in _field(entry, "segments", list)),
    )


def _segment(entry: Any) -> StoredSegment:
    numbers = [
        _field(entry, name, int) for name in ("load_address", "run_address", "size", "run_size")
    ]
    load, run, size, run_size = numbers
    return StoredSegment(load, run, size, run_size, _field(entry, "sha256", str))


def _odd(text: str) -> NoReturn:
    """A fraction, an exponent, NaN or Infinity."""
    raise Unreadable(f"manifest: the number {text[:_DIGITS]}, which link doesn't write")


def _integer(text: str) -> int:
    """A number of the manifest: an address, a size or a version."""
    if len(text) > _DIGITS or not 0 <= int(text) < 1 << 32:
        _odd(text)
    return int(text)


def _field(document: Any, name: str, kind: type[_T]) -> _T:
    """A member of exactly that type: True is no number here."""
    if not isinstance(document, dict) or name not in document:
        raise Unreadable(f"manifest: '{name}' is missing")
    value = document[name]
    if type(value) is not kind:
        raise Unreadable(f"manifest: '{name}' is no {kind.__name__}")
    return value
