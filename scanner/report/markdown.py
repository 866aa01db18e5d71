"""A comment on a pull request, in GitHub's Markdown: what is new, what was there, what is gone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scanner.report.finding import FileReport, Finding
from scanner.report.one_line import one_line
from scanner.report.run import Run
from scanner.report.source import source_place
from scanner.report.text import place
from scanner.report.totals import totals

_SHOWN = 50
_WORDS = {"accept": "accepted", "warn": "accepted with warnings", "reject": "**rejected**"}
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~#@])")


def render(run: Run) -> str:
    """The comment; its first line lets a job find the one that it wrote before."""
    lines = ["<!-- fvmkit scan -->", "### fvmkit scan", "", _escaped(totals(run.reports).text)]
    lines += [
        "",
        "| program | core | verdict | new | known | left out |",
        "|---|---|---|--:|--:|--:|",
    ]
    lines += [_row(report) for report in run.reports]
    lines += _findings(run)
    if run.notes or run.skipped:
        notes = [*run.notes, *(f"not scanned, {one.reason}: {one.file}" for one in run.skipped)]
        lines += ["", *(f"- {_escaped(note)}" for note in notes)]
    return "\n".join(lines) + "\n"


def _row(report: FileReport) -> str:
    out = sum(one.by == "filter" for one in report.waived)
    known = len(report.waived) - out
    cells = (
        _escaped(report.file), report.arch, _WORDS[report.verdict],
        len(report.findings), known, out,
    )  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


def _findings(run: Run) -> Iterator[str]:
    pairs = [(report, finding) for report in run.reports for finding in report.findings]
    pairs.sort(key=lambda pair: not pair[1].rejects(pair[0].strict))
    if not pairs:
        yield from ("", "Nothing new.")
        return
    yield from ("", "| new | rule | where | what |", "|---|---|---|---|")
    for report, finding in pairs[:_SHOWN]:
        verdict = "**reject**" if finding.rejects(report.strict) else "warn"
        doubt = " (possible)" if finding.certainty == "possible" else ""
        what = _escaped(f"{finding.text}: {finding.why}; {finding.fix}")
        yield f"| {verdict} | {finding.rule}{doubt} | {_where(report, finding)} | {what} |"
    if len(pairs) > _SHOWN:
        yield from ("", f"{len(pairs) - _SHOWN} more are in the log.")


def _where(report: FileReport, finding: Finding) -> str:
    source = source_place(finding)
    if source is None:
        return _escaped(place(finding) or report.file)
    function = "" if finding.function is None else f" in {finding.function}"
    inlined = "".join(f"; {call.text}" for call in finding.inlined)
    return _escaped(f"{source.file}:{source.line}{function}{inlined}")


def _escaped(text: str) -> str:
    """Text that Markdown takes for nothing else: names in a program are anybody's."""
    return _SPECIAL.sub(r"\\\1", one_line(text))
