"""A port without what a person declined."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from porter.choosing.pieces import Piece, follows
from porter.judging.verdict import Status, Verdict
from porter.result import FilePort, PortResult
from porter.source.edit import Edit


def without(result: PortResult, declined: Iterable[Piece]) -> PortResult:
    """The same port with these pieces as they were: what the guest needs of them is escalated."""
    edits: dict[Path, set[Edit]] = {}
    verdicts: dict[Path, list[Verdict]] = {}
    for piece in declined:
        for part in piece.parts:
            path = part.port.file.path
            edits.setdefault(path, set()).update(part.edits)
            verdicts.setdefault(path, []).extend(part.verdicts)
    ports = [
        _without(port, edits[path], verdicts[path]) if path in edits else port
        for port in result.files
        for path in [port.file.path]
    ]
    return replace(result, files=tuple(it for it in ports if it.verdicts or it.edits))


def _without(port: FilePort, declined: set[Edit], verdicts: list[Verdict]) -> FilePort:
    kept = tuple(edit for edit in port.edits if edit not in declined)
    if all(map(follows, kept)):  # nothing is left that needs them
        kept = ()
        verdicts = [it for it in port.verdicts if it.status is Status.REWRITTEN]
    changed = {it.site: _declined(it) for it in verdicts}
    return replace(port.with_verdicts(changed), edits=kept)


def _declined(verdict: Verdict) -> Verdict:
    reason = f"declined by you; else: {verdict.reason}"
    return replace(verdict, status=Status.ESCALATED, reason=reason, edits=())
