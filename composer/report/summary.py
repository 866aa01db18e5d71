"""The verdicts in one table: what a reviewer reads first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from composer.report.material import Material
from composer.report.porting import Project
from composer.report.regions import Unit
from composer.report.routes import Way
from composer.report.sections import Interrupt
from composer.report.stacks import Stack
from composer.report.talk import Talk
from composer.report.verdicts import Scan
from composer.verify.findings import Report

GOOD, LOOK, BAD, ABSENT = "good", "look", "bad", "absent"
WORDS = {GOOD: "ok", LOOK: "look", BAD: "no", ABSENT: "not done"}


@dataclass(frozen=True)
class Verdict:
    """One line of the table; `anchor` is the section that shows the reasons."""

    title: str
    state: str
    text: str
    anchor: str

    @property
    def word(self) -> str:
        """The state for those who don't see its colour."""
        return WORDS[self.state]


def count(number: int, noun: str) -> str:
    """`1 finding`, `2 findings`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def porting(projects: Sequence[Project]) -> Iterator[Verdict]:
    """One a project."""
    for project in projects:
        text = (
            f"{count(project.found, 'site')}: {project.rewritten} rewritten, {project.left} left,"
            f" {project.escalated} escalated; {len(project.files)} files,"
            f" +{project.added} \N{MINUS SIGN}{project.removed} lines"
        )
        state = LOOK if project.escalated else GOOD
        if project.account is not None:
            text += f"; {project.account.explained} explained, {project.account.open} open"
        if project.edited:
            state = LOOK
            text += f"; {count(len(project.edited), 'file')} of the built copy changed by hand"
        yield Verdict(f"Port {project.name}", state, text, "porting")


def scanned(scans: Sequence[Scan]) -> Verdict:
    """All domains together."""
    rejected = [scan.name for scan in scans if scan.verdict == "reject"]
    remarks = sum(len(scan.remarks) for scan in scans)
    if rejected:
        return Verdict("Scan", BAD, f"rejected: {', '.join(rejected)}", "verdicts")
    warnings = f", {count(remarks, 'warning')}" if remarks else ""
    return Verdict("Scan", GOOD, f"{count(len(scans), 'domain')} accepted{warnings}", "verdicts")


def verified(report: Report) -> Verdict:
    """`fvmkit verify`: whether a user may flash the image."""
    failed = [check.id for check in report.checks if not check.ok]
    if failed:
        return Verdict("Verify", BAD, f"not to be flashed: {', '.join(failed)}", "verdicts")
    text = f"{len(report.checks)} checks of the image against its description hold"
    return Verdict("Verify", GOOD, text, "verdicts")


def protected(material: Material, units: Sequence[Unit]) -> Verdict:
    """The regions in the image against the description."""
    if not material.system.protection:
        return Verdict("Protection", BAD, "is switched off in this image", "regions")
    faults = sum(len(unit.faults) for unit in units)
    if faults:
        return Verdict("Protection", BAD, f"{faults} deviations from the description", "regions")
    regions = sum(len(unit.regions) for unit in units)
    text = (
        f"{count(regions, 'region')} of {count(len(units), 'domain')} grant exactly what is"
        " described: not a byte more, none missing"
    )
    return Verdict("Protection", GOOD, text, "regions")


def routed(ways: Sequence[Way], closed: int) -> Verdict:
    """The lines in the image against the description."""
    faults = [way.name for way in ways if way.fault]
    if faults:
        return Verdict("Interrupts", BAD, f"led elsewhere: {', '.join(faults)}", "routes")
    text = f"{count(len(ways), 'line')} led as described, the other {closed} to nobody"
    return Verdict("Interrupts", GOOD, text, "routes")


def split(interrupts: Sequence[Interrupt]) -> Iterator[Verdict]:
    """The interrupts that are to be served in three sections, if there are any."""
    planned = [irq for irq in interrupts if irq.planned]
    whole = [irq.name for irq in planned if not irq.stages and not irq.own]
    if whole:
        text = f"planned, but served whole: {', '.join(whole)}"
        yield Verdict("Sections", LOOK, text, "sections")
    elif planned:
        names = ", ".join(irq.name for irq in planned)
        text = f"{names} in three sections"
        if not any(irq.own for irq in planned):
            text += ", one writer for each register"
        yield Verdict("Sections", GOOD, text, "sections")


def ran(talk: Talk | None) -> Iterator[Verdict]:
    """The recorded run."""
    if talk is None:
        yield Verdict("Run", ABSENT, "no run was recorded for this page", "run")
        return
    if talk.other:
        yield Verdict("Run", BAD, "was recorded with another image than this", "run")
        return
    kept = len(talk.checks) - len(talk.broken)
    words = f"{kept} of {count(len(talk.checks), 'expectation')} kept; " if talk.checks else ""
    words += f"{count(len(talk.reboots), 'restart')} of domains, each with its cause"
    yield Verdict("Run", BAD if talk.broken else GOOD, words, "run")


def stacked(stacks: Sequence[Stack] | None) -> Verdict:
    """The deepest stack."""
    if stacks is None:
        return Verdict("Stacks", ABSENT, "no dump of the RAM was given", "stacks")
    worst = max(stacks, key=lambda stack: stack.used / stack.size)
    over = [f"{s.name} of {s.part}" for s in stacks if s.overflowed]
    if over:
        return Verdict("Stacks", BAD, f"overflowed: {', '.join(over)}", "stacks")
    text = (
        f"the fullest of {len(stacks)}, {worst.name} of {worst.part}, is used to {worst.percent} %"
    )
    return Verdict("Stacks", LOOK if worst.tight else GOOD, text, "stacks")
