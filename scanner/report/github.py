"""Annotations for a GitHub workflow: commands on stdout that mark lines of a pull request.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions
"""

from __future__ import annotations

from collections.abc import Iterator

from scanner.report.finding import FileReport, Finding
from scanner.report.one_line import one_line
from scanner.report.run import Run
from scanner.report.source import from_here, source_place
from scanner.report.text import place


def render(run: Run) -> str:
    """One command a finding, at its source line where that is known."""
    lines = [line for report in run.reports for line in _lines(report)]
    lines += [f"::notice title=fvmkit scan::{_text(note)}" for note in run.notes]
    return "".join(f"{line}\n" for line in lines)


def _lines(report: FileReport) -> Iterator[str]:
    for finding in report.findings:
        level = "error" if finding.rejects(report.strict) else "warning"
        yield _command(level, report, finding, f"{finding.why}; {finding.fix}")
    for waived in (one for one in report.waived if one.by != "filter"):
        yield _command("notice", report, waived.finding, f"waived: {waived.reason}")


def _command(level: str, report: FileReport, finding: Finding, why: str) -> str:
    source = source_place(finding)
    where = {"file": one_line(from_here(report.file))} if source is None else {"file": source.file}
    if source is not None:
        where["line"] = str(source.line)
    where["title"] = f"fvmkit {finding.rule}"
    properties = ",".join(f"{name}={_property(value)}" for name, value in where.items())
    parts = [one_line(report.file), place(finding), f"{finding.text} — {why}"]
    message = ": ".join(part for part in parts if part)
    return f"::{level} {properties}::{_text(message)}"


def _text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _text(text).replace(":", "%3A").replace(",", "%2C")
