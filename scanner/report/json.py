"""The report for programs: schema 1 of `fvmkit scan --json`.

What only some calls have (`toolchain`, `guessed`, `besides`, `evidence` and `waived` of a file;
`skipped` and `notes` of the whole; `inlined` and `path` of a finding) is left out where there is
none.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from scanner.report.finding import FileReport, Finding
from scanner.report.run import Run
from scanner.report.totals import totals

SCHEMA = 1


def render(run: Run) -> str:
    """One JSON document for all files, with a final newline."""
    document: dict[str, Any] = {"schema": SCHEMA, "files": [_file(one) for one in run.reports]}
    sums = totals(run.reports)
    document["totals"] = {"files": sums.files, **sums.verdicts, "rules": sums.rules}
    if run.skipped:
        document["skipped"] = [{"file": one.file, "reason": one.reason} for one in run.skipped]
    if run.notes:
        document["notes"] = list(run.notes)
    return json.dumps(document, indent=2) + "\n"


def _file(report: FileReport) -> dict[str, Any]:
    file: dict[str, Any] = {
        "file": report.file,
        "arch": report.arch,
        "verdict": report.verdict,
        "sha256": report.sha256,
        "findings": [_finding(finding) for finding in report.findings],
    }
    if report.toolchain:
        file["toolchain"] = list(report.toolchain)
    if report.guessed:
        file["guessed"] = True
    if report.besides:
        file["besides"] = list(report.besides)
    if report.evidence is not None:
        file["evidence"] = asdict(report.evidence)
    if report.waived:
        file["waived"] = [
            {**_finding(one.finding), "by": one.by, "reason": one.reason} for one in report.waived
        ]
    return file


def _finding(finding: Finding) -> dict[str, Any]:
    found: dict[str, Any] = {
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
    if finding.inlined:
        found["inlined"] = [asdict(call) for call in finding.inlined]
    if finding.path:
        found["path"] = [asdict(step) for step in finding.path]
    return found
