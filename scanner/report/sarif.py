"""SARIF 2.1.0 (OASIS), for code scanning: https://docs.oasis-open.org/sarif/sarif/v2.1.0/

A finding whose source line is known is located there, with the binary as a related place; any
other in the binary. What was waived stays in the log as suppressed, with the reason.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from scanner.catalogue import Entry, catalogue
from scanner.report.finding import FileReport, Finding, Step, Waived, fingerprints
from scanner.report.one_line import one_line
from scanner.report.run import Run
from scanner.report.source import SourcePlace, from_here, place_of, source_place

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

Node = dict[str, Any]


def render(run: Run) -> str:
    """One log with one run for all files, and a final newline."""
    rules = catalogue()
    numbers = {rule: number for number, rule in enumerate(rules)}
    driver = {
        "name": "fvmkit scan",
        "semanticVersion": version("fvmkit"),
        "rules": [_rule(rule, entries) for rule, entries in rules.items()],
    }
    folders = _folders([report.file for report in run.reports])
    results = [
        result
        for report, count in zip(run.reports, folders, strict=True)
        for result in _results(report, numbers, count)
    ]
    log = {
        "tool": {"driver": driver},
        "automationDetails": {"id": "fvmkit-scan/"},
        "columnKind": "unicodeCodePoints",
        "artifacts": [_artifact(report) for report in run.reports],
        "invocations": [{"executionSuccessful": True, "toolExecutionNotifications": _notes(run)}],
        "results": results,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [log]}, indent=2) + "\n"


def _rule(rule: str, entries: tuple[Entry, ...]) -> Node:
    first = entries[0]
    help_text = "\n\n".join(
        f"{entry.why}. {entry.hardware} To fix: {entry.fix}. Manual: {entry.manual}."
        for entry in entries
    )
    return {
        "id": rule,
        "shortDescription": {"text": first.why},
        "fullDescription": {"text": first.hardware},
        "help": {"text": help_text},
        "properties": {"tags": ["security", "firmware"]},
    }


def _artifact(report: FileReport) -> Node:
    artifact: Node = {
        "location": {"uri": _uri(report.file)},
        "roles": ["analysisTarget"],
        "hashes": {"sha-256": report.sha256},
    }
    if report.evidence is not None:
        artifact["properties"] = {"evidence": asdict(report.evidence)}
    return artifact


def _notes(run: Run) -> list[Node]:
    texts = [f"not scanned, {one.reason}: {one_line(one.file)}" for one in run.skipped]
    guessed = [f"{one_line(r.file)}: taken for {r.arch}" for r in run.reports if r.guessed]
    notes = [*texts, *guessed, *run.notes]
    return [{"level": "note", "message": {"text": text}} for text in notes]


def _folders(files: Sequence[str]) -> list[int]:
    """How many folders it takes to tell each file from those that have its name."""
    paths = [PurePath(os.path.abspath(file)).parts for file in files]
    counts = dict.fromkeys(paths, 0)
    doubtful = set(paths)
    while doubtful:
        alike: dict[tuple[str, ...], list[tuple[str, ...]]] = defaultdict(list)
        for path in doubtful:
            alike[path[-1 - counts[path] :]].append(path)
        doubtful = {path for same in alike.values() if len(same) > 1 for path in same}
        for path in doubtful:
            counts[path] += 1
    return [counts[path] for path in paths]


def _results(report: FileReport, numbers: dict[str, int], folders: int) -> list[Node]:
    waived = tuple(one.finding for one in report.waived)
    findings = (*report.findings, *waived)
    reasons: list[Waived | None] = [*[None] * len(report.findings), *report.waived]
    names = fingerprints(report.file, findings, folders)
    return [
        _result(report, finding, reason, name, numbers)
        for finding, reason, name in zip(findings, reasons, names, strict=True)
    ]


def _result(
    report: FileReport, finding: Finding, waived: Waived | None, name: str, numbers: dict[str, int]
) -> Node:
    doubt = " (possible)" if finding.certainty == "possible" else ""
    inlined = "".join(f", {call.text}" for call in finding.inlined)
    result: Node = {
        "ruleId": finding.rule,
        "ruleIndex": numbers[finding.rule],
        "level": "error" if finding.rejects(report.strict) else "warning",
        "message": {"text": f"{finding.text}{doubt}{inlined}: {finding.why}; {finding.fix}"},
        "locations": [_location(report, finding)],
        "partialFingerprints": {"primaryLocationLineHash": name, "fvmkit/v1": name},
        "properties": {"severity": finding.severity, "certainty": finding.certainty},
    }
    related = list(_related(report, finding))
    if related:
        result["relatedLocations"] = [{"id": number, **one} for number, one in enumerate(related)]
    if finding.path:
        steps = [_step(report, step) for step in finding.path]
        last = {**_location(report, finding), "message": {"text": finding.text}}
        result["codeFlows"] = [{"threadFlows": [{"locations": [*steps, {"location": last}]}]}]
    if waived is not None:
        reason = {"kind": "external", "status": "accepted", "justification": waived.reason}
        result["suppressions"] = [reason]
    return result


def _related(report: FileReport, finding: Finding) -> Iterator[Node]:
    """The binary, where the finding itself is located elsewhere, and calls that were inlined."""
    if source_place(finding) is not None:
        yield {**_binary(report, finding), "message": {"text": "in the linked program"}}
    for call in finding.inlined:
        source = place_of(call.source)
        if source is not None:
            yield {**_source(source), "message": {"text": call.text}}


def _step(report: FileReport, step: Step) -> Node:
    source = place_of(step.source)
    address = {"absoluteAddress": step.address, "kind": "instruction"}
    binary = {"artifactLocation": {"uri": _uri(report.file)}, "address": address}
    place = {"physicalLocation": binary} if source is None else _source(source)
    return {"location": {**place, "message": {"text": step.text}}}


def _source(place: SourcePlace) -> Node:
    region = {"startLine": place.line}
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(place.file)}, "region": region}}


def _location(report: FileReport, finding: Finding) -> Node:
    source = source_place(finding)
    if source is None:
        location = _binary(report, finding)
        # Code scanning shows nothing that has no line.
        location["physicalLocation"]["region"] = {"startLine": 1}
    else:
        location = _source(source)
    if finding.function is not None:
        location["logicalLocations"] = [{"name": finding.function, "kind": "function"}]
    return location


def _binary(report: FileReport, finding: Finding) -> Node:
    place: Node = {"artifactLocation": {"uri": _uri(report.file)}}
    if finding.address is not None:
        place["address"] = {"absoluteAddress": finding.address, "kind": "instruction"}
    return {"physicalLocation": place}


def _uri(file: str) -> str:
    path = Path(from_here(file))
    return path.as_uri() if path.is_absolute() else quote(os.fsencode(path))
