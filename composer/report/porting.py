"""What the porter made of each project: every site with its reason, and the diff."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from composer.image.composed import read_json
from composer.report.diff import Hunk, hunks
from composer.report.material import Material
from composer.report.text import printable
from porter.judging.verdict import Status, Verdict
from porter.output.unified_diff import unified_diff
from porter.port import port_project
from porter.project.domain import read_domain
from porter.result import FilePort, PortResult
from porter.source.source_file import SourceFile


@dataclass(frozen=True)
class Note:
    """A site: where, what stood there, how it ended and why."""

    status: str
    file: str
    line: int
    what: str
    where: str
    rule: str
    reason: str
    conditions: str

    @property
    def place(self) -> str:
        """`file:line`."""
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Group:
    """Sites that one rule ended alike."""

    status: str
    rule: str
    notes: tuple[Note, ...]

    @property
    def reasons(self) -> str:
        """The most frequent reason, and how many others there are."""
        (first, _), *others = Counter(note.reason for note in self.notes).most_common()
        more = "1 more reason" if len(others) == 1 else f"{len(others)} more reasons"
        return f"{first}; {more}" if others else first


@dataclass(frozen=True)
class Change:
    """A hunk, and the sites in it."""

    hunk: Hunk
    notes: tuple[Note, ...]


@dataclass(frozen=True)
class FileDiff:
    """What changed in one file."""

    name: str
    added: int
    removed: int
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Account:
    """What `link` made of the port: everything that there was to explain, how much of it was, and
    the places that a person answers for, with the reason."""

    sites: int
    explained: int
    open: int
    answers: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Project:
    """One ported project. `edited`: files of its ported copy that hold something else; `account`:
    None where the manifest has none."""

    name: str
    source: str
    files_read: int
    rewritten: int
    left: int
    escalated: int
    groups: tuple[Group, ...]
    files: tuple[FileDiff, ...]
    replaced: tuple[tuple[str, str], ...]
    edited: tuple[str, ...]
    account: Account | None = None

    @property
    def found(self) -> int:
        """All sites."""
        return self.rewritten + self.left + self.escalated

    @property
    def added(self) -> int:
        """Lines of the whole diff."""
        return sum(file.added for file in self.files)

    @property
    def removed(self) -> int:
        """Lines of the whole diff."""
        return sum(file.removed for file in self.files)


def projects(material: Material) -> tuple[Project, ...]:
    """Every project that is ported. Ports them once more, which writes nothing."""
    found = []
    for domain in material.plan.domains:
        sources, source = domain.sources, domain.source
        if source is None or not source.project.is_ported:
            continue
        if sources is None or sources.original is None or sources.ported is None:
            continue
        policy = material.system.policy(domain.name)
        result = port_project(sources.original, read_domain(policy), [material.system.folder])
        replaced = tuple(
            (printable(str(item["file"])), printable(str(item["by"])))
            for item in read_json(policy).get("replaced", [])
        )
        project = _project(domain.name, source.project.path, result, sources.ported, replaced)
        found.append(replace(project, account=_account(material.manifest, domain.name)))
    return tuple(found)


def _account(manifest: Mapping[str, Any], name: str) -> Account | None:
    for part in manifest.get("parts", ()):
        ledger = part.get("ledger")
        if part.get("name") == name and ledger is not None:
            answers = tuple(
                (printable(f"{it['file']}:{it['line']} {it['text']}"), printable(it["reason"]))
                for it in ledger["acknowledged"]
            )
            return Account(
                int(ledger["sites"]), int(ledger["explained"]), int(ledger["open"]), answers
            )
    return None


def _project(
    name: str,
    source: str,
    result: PortResult,
    copy: Path,
    replaced: tuple[tuple[str, str], ...],
) -> Project:
    notes = [_note(port.file, verdict) for port in result.files for verdict in port.verdicts]
    diffs = [_file(port) for port in result.files if port.edits]
    return Project(
        name,
        source,
        result.files_read,
        result.count(Status.REWRITTEN),
        result.count(Status.LEFT),
        result.count(Status.ESCALATED),
        _groups(notes),
        tuple(diffs),
        replaced,
        tuple(printable(port.file.name) for port in result.files if _differs(port, copy)),
    )


def _differs(port: FilePort, copy: Path) -> bool:
    """Whether the copy that was built holds another text than the porter writes today."""
    try:
        return (copy / port.file.name).read_bytes() != port.ported
    except OSError:
        return True


def _note(file: SourceFile, verdict: Verdict) -> Note:
    site = verdict.site
    return Note(
        verdict.status.value,
        printable(file.name),
        file.line(site.start),
        printable(site.what),
        printable(site.where),
        verdict.rule,
        printable(verdict.reason),
        printable(" && ".join(site.conditions)),
    )


def _groups(notes: Iterable[Note]) -> tuple[Group, ...]:
    """Escalated first, then rewritten, then left; large groups first."""
    found: dict[tuple[str, str], list[Note]] = {}
    for note in notes:
        found.setdefault((note.status, note.rule), []).append(note)
    order = [status.value for status in (Status.ESCALATED, Status.REWRITTEN, Status.LEFT)]
    groups = [Group(*key, tuple(members)) for key, members in found.items()]
    return tuple(sorted(groups, key=lambda g: (order.index(g.status), -len(g.notes), g.rule)))


def _file(port: FilePort) -> FileDiff:
    notes = [_note(port.file, verdict) for verdict in port.verdicts]
    found = hunks(unified_diff(port.file, port.edits))
    count = [line.sign for hunk in found for line in hunk.lines].count
    changes = tuple(
        Change(
            hunk,
            tuple(
                note
                for note in notes
                if hunk.first <= note.line <= hunk.last and note.status == Status.REWRITTEN.value
            ),
        )
        for hunk in found
    )
    return FileDiff(printable(port.file.name), count("+"), count("-"), changes)
