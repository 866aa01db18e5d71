"""Source and program of a ported domain account for each other, or nothing is linked.

What the porter couldn't decide, and what the scanner still finds in the program that came of it,
must each be explained: by a verdict of the porter, or by a person in the description.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from composer.image.composed import Composed, Part
from porter.judging.verdict import Status
from porter.ledger.acknowledged import Acknowledgement, OpenPlace, plain, settle
from porter.ledger.record import Kept, Record, read_record, sha256
from scanner.report.errors import FvmError
from scanner.report.finding import FileReport, Finding

_SHOWN = 8


@dataclass(frozen=True)
class Balance:
    """One ported domain's account.

    `acknowledged`: places with the reason that a person gave; `open`: those without one, and why
    they are; `edited`: files of the copy that somebody changed since the port; `sites`: all that
    there was to account for, the porter's and findings in the program beside them.
    """

    domain: str
    record: Record
    acknowledged: tuple[tuple[OpenPlace, str], ...]
    open: tuple[tuple[OpenPlace, str], ...]
    idle: tuple[Acknowledgement, ...]
    edited: tuple[str, ...]
    sites: int


def balances(
    system: Composed, reports: Mapping[str, FileReport]
) -> tuple[tuple[Balance, ...], tuple[str, ...]]:
    """The accounts of all ported domains, and the names of those that were never ported."""
    ported = [part for part in system.domains if part.ported is not None]
    return (
        tuple(balance(part, reports[part.name], system) for part in ported),
        tuple(part.name for part in system.domains if part.ported is None),
    )


def check_ledger(
    system: Composed, reports: Mapping[str, FileReport]
) -> tuple[tuple[Balance, ...], tuple[str, ...]]:
    """The same; FvmError that names what is open."""
    accounts, new = balances(system, reports)
    refused = [line for account in accounts for line in _refusal(account)]
    if refused:
        raise FvmError(
            "\n  ".join(["a port is not accounted for, so nothing was written", *refused]),
            hint="change the project or the description and port again, or let a person answer "
            "for the line: the elements above, with a reason, in its <vm> or <process>",
        )
    return accounts, new


def balance(part: Part, report: FileReport, system: Composed) -> Balance:
    """One domain's account. Raises FvmError where the copy has no record of a port."""
    copy = part.ported or Path()
    record = read_record(copy)
    sources = _Copy(copy, record)
    places = [
        (kept.place, f"escalated{sources.afterwards(kept)}: {kept.reason}")
        for kept in record.kept
        if kept.status == Status.ESCALATED.value
    ]
    places += ((place, "overlooked by the port") for place in record.overlooked)
    beside: dict[OpenPlace, str] = {}
    for finding in report.findings:
        if finding.certainty == "certain" and finding.address is not None:
            found, why = sources.explain(finding, system.folder / part.name)
            if found is not None:
                beside.setdefault(found, why)
    places += beside.items()
    settled = settle((place for place, _ in places), part.acknowledged)
    answered = settled.reasons
    return Balance(
        part.name,
        record,
        tuple((place, answered[place]) for place, _ in places if place in answered),
        tuple((place, why) for place, why in places if place not in answered),
        settled.idle,
        sources.edited,
        record.found + len(record.overlooked) + len(beside),
    )


class _Copy:
    """The ported copy beside the record that the port left in it."""

    def __init__(self, folder: Path, record: Record) -> None:
        self._folder = folder
        self._lines: dict[str, list[str]] = {}
        self._kept: dict[str, list[Kept]] = {}
        for kept in record.kept:
            self._kept.setdefault(kept.file, []).append(kept)
        self.edited = tuple(
            name for name, digest in record.sums.items() if self._sum(name) != digest
        )

    def _sum(self, name: str) -> str:
        try:
            return sha256((self._folder / name).read_bytes())
        except OSError:
            return ""

    def lines(self, name: str) -> list[str]:
        """A file's lines as they are now; none if it is gone."""
        if name not in self._lines:
            try:
                text = (self._folder / name).read_bytes().decode("utf-8", "replace")
            except OSError:
                text = ""
            self._lines[name] = [plain(line) for line in text.split("\n")]
        return self._lines[name]

    def afterwards(self, kept: Kept) -> str:
        """What somebody did to a site by hand. Whether that mended it only a person can say."""
        if kept.file not in self.edited or kept.text in self.lines(kept.file):
            return ""
        return ", and its line in the copy was changed by hand since"

    def explain(self, finding: Finding, built_in: Path) -> tuple[OpenPlace | None, str]:
        """(None, "") for a finding that a verdict explains; else its place and why none does.

        An escalated site explains it, too: whether a person answers for that is another question.
        """
        file, line = self._place(finding, built_in)
        for kept in self._at(file, line, finding.function):
            if not kept.absent:
                return None, ""
            return self._open(finding, file, line), f"left because: {kept.reason}"
        return self._open(finding, file, line), "in the program, and no verdict explains it"

    def _at(self, file: str, line: int, function: str | None) -> Iterator[Kept]:
        """What stays at a line; without lines, in the function."""
        if file in self.edited:
            return
        if file:
            yield from (it for it in self._kept.get(file, ()) if it.first <= line <= it.last)
        elif function:
            every = (it for kept in self._kept.values() for it in kept)
            yield from (it for it in every if it.where == function and it.file not in self.edited)

    def _place(self, finding: Finding, built_in: Path) -> tuple[str, int]:
        """File below the copy and line; ("", 0) for code from elsewhere."""
        file, _, line = (finding.source or "").rpartition(":")
        if not file or not line.isdecimal():
            return "", 0
        path = (built_in / file).resolve()
        folder = self._folder.resolve()
        if not path.is_relative_to(folder):
            return "", 0
        return path.relative_to(folder).as_posix(), int(line)

    def _open(self, finding: Finding, file: str, line: int) -> OpenPlace:
        if not file:  # from elsewhere: its text is the instruction's
            where, _, number = (finding.source or f"{finding.function or '?'}:").rpartition(":")
            line = int(number) if number.isdecimal() else 0
            return OpenPlace(finding.rule, where, line, plain(finding.text), finding.text)
        lines = self.lines(file)
        text = lines[line - 1] if 0 < line <= len(lines) else ""
        return OpenPlace(finding.rule, file, line, text, finding.text)


def _refusal(account: Balance) -> Iterator[str]:
    """What a person reads of an account that isn't balanced."""
    for place, why in account.open[:_SHOWN]:
        where = f"{place.file}:{place.line}" if place.line else place.file
        yield f"{account.domain}: {where}: {place.what} [{place.rule}]: {why}"
        yield f"    {place.element}"
    if len(account.open) > _SHOWN:
        yield f"{account.domain}: and {len(account.open) - _SHOWN} more"
    if account.open:
        yield from (f"{account.domain}: acknowledges nothing: {one}" for one in account.idle)
