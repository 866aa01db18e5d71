"""The report for people: one line a finding, then one line a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from scanner.report.finding import FileReport, Finding, Verdict
from scanner.report.one_line import one_line
from scanner.report.run import Run
from scanner.report.totals import totals

_SHOWN, _NAMED = 10, 3

COLOURS: dict[Verdict, str] = {"accept": "green", "warn": "yellow", "reject": "red"}


def render(run: Run, every: bool = True, why: bool = False) -> Iterator[tuple[Verdict, str]]:
    """Lines with the verdict each of them stands for, so that the caller can colour them.

    Unless `every` finding is to be listed, those of a kind are but the first few and a count. With
    `why` a line with the path to it follows each.
    """
    for report in run.reports:
        yield from _file(report, every, why)
    if len(run.reports) > 1:
        sums = totals(run.reports)
        yield sums.worst, sums.text


def _file(report: FileReport, every: bool, path: bool) -> Iterator[tuple[Verdict, str]]:
    kinds: dict[tuple[Verdict, str], list[Finding]] = {}
    for finding in report.findings:
        verdict: Verdict = "reject" if finding.rejects(report.strict) else "warn"
        kind = kinds.setdefault((verdict, _rule(finding)), [])
        kind.append(finding)
        if every or len(kind) <= _SHOWN:
            why = f"{finding.why}; {finding.fix}"
            yield verdict, f"{_place(report.file, finding)}{verdict} {_what(finding)} — {why}"
            if path and finding.address is not None:
                yield verdict, f"  why: {path_text(finding)}"
    for (verdict, rule), kind in kinds.items():
        if not every and len(kind) > _SHOWN:
            more = _more(kind[_SHOWN:])
            yield verdict, f"{one_line(report.file)}: {verdict} {rule}: {more}; --all lists them"
    for waived in report.waived:
        if waived.by != "filter":
            place, what = _place(report.file, waived.finding), _what(waived.finding)
            yield "accept", f"{place}waived {what} — {waived.reason}"
    yield report.verdict, f"{one_line(report.file)}: {summary(report)}"


def path_text(finding: Finding) -> str:
    """How control comes to a finding."""
    return ", ".join(step.text for step in finding.path) or "no path to it is known"


def _more(findings: list[Finding]) -> str:
    """How many more there are, and where most of them."""
    places = Counter(finding.function or "no function" for finding in findings).most_common()
    named = ", ".join(f"{name} ({number})" for name, number in places[:_NAMED])
    others = f" and {_count(len(places) - _NAMED, 'other')}" if len(places) > _NAMED else ""
    return f"{len(findings)} more, in {named}{others}"


def place(finding: Finding) -> str:
    """Address, function and source line, as far as they are known, and how the line came there."""
    parts = [finding.function, finding.source]
    if finding.address is not None:
        parts.insert(0, f"0x{finding.address:08x}")
    where = " ".join(part for part in parts if part is not None)
    inlined = "; ".join(call.text for call in finding.inlined)
    return f"{where} ({inlined})" if inlined else where


def _place(file: str, finding: Finding) -> str:
    where = place(finding)
    return f"{one_line(file)}: {where}: " if where else f"{one_line(file)}: "


def _what(finding: Finding) -> str:
    return f"{_rule(finding)}: {finding.text}"


def _rule(finding: Finding) -> str:
    return f"{finding.rule} (possible)" if finding.certainty == "possible" else finding.rule


def summary(report: FileReport) -> str:
    """The verdict on a file, with how many findings led to it."""
    out = sum(one.by == "filter" for one in report.waived)
    waived = f"; {len(report.waived) - out} waived" if len(report.waived) > out else ""
    waived += f"; {out} left out by filters" if out else ""
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
