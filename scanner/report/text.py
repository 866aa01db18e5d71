"""The report for people: one line a finding, then one line a file."""

from __future__ import annotations

from collections.abc import Iterator

from scanner.report.finding import FileReport, Finding, Verdict

COLOURS: dict[Verdict, str] = {"accept": "green", "warn": "yellow", "reject": "red"}


def render(report: FileReport) -> Iterator[tuple[Verdict, str]]:
    """Lines with the verdict each of them stands for, so that the caller can colour them."""
    for finding in report.findings:
        verdict: Verdict = "reject" if finding.rejects(report.strict) else "warn"
        yield verdict, _line(report.file, finding, verdict)
    yield report.verdict, f"{report.file}: {_summary(report)}"


def _line(file: str, finding: Finding, verdict: Verdict) -> str:
    place = []
    if finding.address is not None:
        place.append(f"0x{finding.address:08x}")
    place += [part for part in (finding.function, finding.source) if part is not None]
    where = f"{file}: {' '.join(place)}: " if place else f"{file}: "
    doubt = " (possible)" if finding.certainty == "possible" else ""
    return f"{where}{verdict} {finding.rule}{doubt}: {finding.text} — {finding.why}; {finding.fix}"


def _summary(report: FileReport) -> str:
    rejecting = sum(finding.rejects(report.strict) for finding in report.findings)
    warnings = len(report.findings) - rejecting
    if report.verdict == "accept":
        return f"accepted ({report.arch})"
    if report.verdict == "warn":
        return f"accepted ({report.arch}) with {_count(warnings, 'warning')}"
    besides = f" and {_count(warnings, 'warning')}" if warnings else ""
    return f"rejected ({report.arch}): {_count(rejecting, 'finding')}{besides}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
