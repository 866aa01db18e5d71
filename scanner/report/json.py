"""The report for programs: schema 1 of `fvmkit scan --json`."""

from __future__ import annotations

import json
from collections.abc import Iterable

from scanner.report.finding import FileReport, Finding

SCHEMA = 1


def render(reports: Iterable[FileReport]) -> str:
    """One JSON document for all files, with a final newline."""
    files = [
        {
            "file": report.file,
            "arch": report.arch,
            "verdict": report.verdict,
            "findings": [_finding(finding) for finding in report.findings],
        }
        for report in reports
    ]
    return json.dumps({"schema": SCHEMA, "files": files}, indent=2) + "\n"


def _finding(finding: Finding) -> dict[str, str | int | None]:
    return {
        "rule": finding.rule,
        "address": finding.address,
        "offset": finding.offset,
        "function": finding.function,
        "source": finding.source,
        "severity": finding.severity,
        "certainty": finding.certainty,
        "text": f"{finding.text}: {finding.why}",
        "fix": finding.fix,
    }
