"""The report for people: one line a finding, then one line a file."""

from __future__ import annotations

from collections.abc import Iterator

from scanner.report.finding import FileReport, Finding, Verdict
from scanner.report.one_line import one_line

COLOURS: dict[Verdict, str] = {"accept": "green", "warn": "yellow", "reject": "red"}


def render(report: FileReport) -> Iterator[tuple[Verdict, str]]:
    """Lines with the verdict each of them stands for, so that the caller can colour them."""
    for finding in report.findings:
        verdict: Verdict = "reject" if finding.rejects(report.strict) else "warn"
        why = f"{finding.why}; {finding.fix}"
        yield verdict, f"{_place(report.file, finding)}{verdict} {_what(finding)} — {why}"
    for waived in report.waived:
        place, what = _place(report.file, waived.finding), _what(waived.finding)
        yield "accept", f"{place}waived {what} — {waived.reason}"
    yield report.verdict, f"{one_line(report.file)}: {summary(report)}"


def place(finding: Finding) -> str:
    """Address, function and source line, as far as they are known."""
    parts = [finding.function, finding.source]
    if finding.address is not None:
        parts.insert(0, f"0x{finding.address:08x}")
    return " ".join(part for part in parts if part is not None)


def _place(file: str, finding: Finding) -> str:
    where = place(finding)
    return f"{one_line(file)}: {where}: " if where else f"{one_line(file)}: "


def _what(finding: Finding) -> str:
    doubt = " (possible)" if finding.certainty == "possible" else ""
    return f"{finding.rule}{doubt}: {finding.text}"


def summary(report: FileReport) -> str:
    """The verdict on a file, with how many findings led to it."""
    waived = f"; {len(report.waived)} waived" if report.waived else ""
    evidence = "" if report.evidence is None else f" — {report.evidence.text}"
    return f"{_verdict(report)}{waived}{evidence}"


def _verdict(report: FileReport) -> str:
    rejecting = sum(finding.rejects(report.strict) for finding in report.findings)
    warnings = len(report.findings) - rejecting
    core = f"{report.arch}, guessed" if report.guessed else report.arch
    core += f", judged for {', '.join(report.besides)} too" if report.besides else ""
    if report.verdict == "accept":
        return f"accepted ({core})"
    if report.verdict == "warn":
        return f"accepted ({core}) with {_count(warnings, 'warning')}"
    besides = f" and {_count(warnings, 'warning')}" if warnings else ""
    return f"rejected ({core}): {_count(rejecting, 'finding')}{besides}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
