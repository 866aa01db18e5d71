"""What a port leaves in its copy of a project, for whoever judges a program built from it.

Sites that were rewritten are only counted. Of what stays, each line is kept as it is in the
original and where it stands in the copy.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from porter.judging.verdict import Status, Verdict
from porter.ledger.acknowledged import OpenPlace
from porter.ledger.open_places import place_of
from porter.project.source_tree import PORT_RECORD
from porter.result import FilePort, PortResult
from porter.rules.not_compiled import NotCompiled
from porter.rules.switched_off import SwitchedOff
from porter.rules.unlinked import Unlinked
from porter.source.source_file import SourceFile
from scanner.report.errors import FvmError, MissingError

SCHEMA = 2
_ABSENT = frozenset({Unlinked.id, NotCompiled.id, SwitchedOff.id, "file", "definition"})
"""Rules that leave a site because it is no part of the program."""


@dataclass(frozen=True)
class Kept:
    """A site that stays. `first` and `last`: its lines in the copy; `where`: the function;
    `absent`: it was left because the program would not have it."""

    status: str
    rule: str
    file: str
    line: int
    text: str
    what: str
    where: str
    first: int
    last: int
    absent: bool
    reason: str

    @property
    def place(self) -> OpenPlace:
        """As an acknowledgement names it."""
        return OpenPlace(self.rule, self.file, self.line, self.text, self.what)


@dataclass(frozen=True)
class Record:
    """A port: how many sites ended how, the files of the copy with their sums, and what stays."""

    rewritten: int
    left: int
    escalated: int
    sums: dict[str, str]
    kept: tuple[Kept, ...]
    overlooked: tuple[OpenPlace, ...]

    @property
    def found(self) -> int:
        """All sites."""
        return self.rewritten + self.left + self.escalated


def record_of(result: PortResult, overlooked: tuple[OpenPlace, ...] = ()) -> Record:
    """The record of a port."""
    kept: list[Kept] = []
    sums: dict[str, str] = {}
    copies = {port.file.path: _Copied(port) for port in result.files}
    sources = {source.path: source for source in result.sources}
    for port in result.files:
        stays = [it for it in port.verdicts if it.status is not Status.REWRITTEN]
        kept += [_kept(copies[port.file.path], verdict) for verdict in stays]
        if port.edits or stays:
            sums[port.file.name] = sha256(port.ported)
        for verdict in stays:
            for path, first, last in verdict.also:
                copy = copies.get(path) or _Copied(FilePort(sources[path], (), ()))
                kept.append(_elsewhere(copy, verdict, first, last))
                sums[copy.port.file.name] = sha256(copy.port.ported)
    return Record(
        result.count(Status.REWRITTEN),
        result.count(Status.LEFT),
        result.count(Status.ESCALATED),
        sums,
        tuple(kept),
        overlooked,
    )


def write_record(record: Record, edited: set[str], path: Path) -> None:
    """Write it beside the copy's files; `edited`: those that differ from the original."""
    document = {
        "schema": SCHEMA,
        "edited": {name: record.sums[name] for name in sorted(edited)},
        **asdict(record),
    }
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def read_record(copy: Path) -> Record:
    """What the port wrote. Raises MissingError if there is no record, FvmError if it is none."""
    path = copy / PORT_RECORD
    hint = "run fvmkit port again, with --out"
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if data["schema"] != SCHEMA:
            raise FvmError(f"schema {data['schema']} is not known", file=path, hint=hint)
        return Record(
            int(data["rewritten"]),
            int(data["left"]),
            int(data["escalated"]),
            {str(name): str(digest) for name, digest in data["sums"].items()},
            tuple(Kept(**_typed(Kept, item)) for item in data["kept"]),
            tuple(OpenPlace(**_typed(OpenPlace, item)) for item in data["overlooked"]),
        )
    except OSError as error:
        raise MissingError(
            f"is no record of a port: {error.strerror}", file=path, hint=hint
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FvmError(f"is no record of a port: {error!r}", file=path, hint=hint) from None


def _typed(kind: type[Kept] | type[OpenPlace], item: dict[str, Any]) -> dict[str, Any]:
    """The fields of one entry, each of the type that it has in the class."""
    types = {"str": str, "int": int, "bool": bool}
    return {it.name: types[str(it.type)](item[it.name]) for it in fields(kind)}


def sha256(data: bytes) -> str:
    """Hexadecimal digest."""
    return hashlib.sha256(data).hexdigest()


class _Copied:
    """A file, and where its bytes are in the copy."""

    def __init__(self, port: FilePort) -> None:
        self.port = port
        self._after = SourceFile(port.file.path, port.file.name, port.ported)

    def line(self, offset: int) -> int:
        """The line in the copy of a byte of the original."""
        grown = sum(
            len(edit.replacement) - (edit.end - edit.start)
            for edit in self.port.edits
            if edit.end <= offset
        )
        return self._after.line(offset + grown)


def _kept(copy: _Copied, verdict: Verdict) -> Kept:
    site, place = verdict.site, place_of(copy.port, verdict)
    first = copy.line(site.start)
    height = copy.port.file.line(max(site.end - 1, site.start)) - place.line
    return Kept(
        verdict.status.value,
        verdict.rule,
        place.file,
        place.line,
        place.text,
        site.what,
        site.where,
        first,
        first + height,
        verdict.status is Status.LEFT and verdict.rule in _ABSENT,
        verdict.reason,
    )


def _elsewhere(copy: _Copied, verdict: Verdict, first: int, last: int) -> Kept:
    """The same at lines that the verdict speaks of, too."""
    file = copy.port.file
    start, end = file.start_of(first), file.start_of(last) + 1
    return _kept(copy, replace(verdict, site=replace(verdict.site, start=start, end=end, where="")))
