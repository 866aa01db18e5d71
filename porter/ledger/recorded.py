"""The record of a port, from its result."""

from __future__ import annotations

from dataclasses import replace

from porter.judging.verdict import Status, Verdict
from porter.ledger.acknowledged import OpenPlace
from porter.ledger.open_places import place_of
from porter.ledger.record import Kept, Record, sha256
from porter.result import FilePort, PortResult
from porter.rules.dropped import Dropped
from porter.rules.not_compiled import NotCompiled
from porter.rules.switched_off import SwitchedOff
from porter.rules.unlinked import Unlinked
from porter.source.source_file import SourceFile

_ABSENT = frozenset({Unlinked.id, NotCompiled.id, SwitchedOff.id, Dropped.id, "file", "definition"})
"""Rules that leave a site because it is no part of the program."""


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
