"""The report of a port: lines for people, one JSON document for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from porter.result import FilePort, PortResult
from porter.rules.verdict import Status, Verdict
from porter.source.source_file import SourceFile

SCHEMA = 1
_LONG = 60  # characters; a shorter reason is said again
_FUNCTION = re.compile(r"\w+: ")


def summary(result: PortResult) -> str:
    """The line that counts."""
    return (
        f"{result.found} found, {result.count(Status.REWRITTEN)} rewritten, "
        f"{result.count(Status.LEFT)} left, {result.count(Status.ESCALATED)} escalated"
    )


def lines(result: PortResult, status: Status) -> Iterator[str]:
    """One line a site that ended so: `file:line:col: escalated what [rule]: reason (if ...)`.

    A long reason is told at the first site of a file that has it.
    """
    for port in result.files:
        told: dict[tuple[str, str], int] = {}
        for verdict in port.verdicts:
            if verdict.status is status:
                reason = verdict.rule, verdict.reason
                yield _line(port.file, verdict, told.get(reason))
                if len(verdict.reason) > _LONG:
                    told.setdefault(reason, port.file.line(verdict.site.start))


def as_json(result: PortResult) -> str:
    """Schema 1: counts, every site with its place, rule, reason and conditions, and the lines that
    change: whoever looks for a place of the project finds it in one of the two, or it was never
    seen."""
    sites = [_site(port.file, verdict) for port in result.files for verdict in port.verdicts]
    document = {
        "schema": SCHEMA,
        "project": str(result.root),
        "guessed_cpu": list(result.guessed_cpu),
        "found": result.found,
        **{status.value: result.count(status) for status in Status},
        "sites": sites,
        "edited": {port.file.name: edited_lines(port) for port in result.files if port.edits},
    }
    return json.dumps(document, indent=2) + "\n"


def edited_lines(port: FilePort) -> list[list[int]]:
    """First and last line of each stretch of the original that is replaced or taken out."""
    if port.is_new:
        return []
    line = port.file.line
    return [[line(it.start), line(max(it.end - 1, it.start))] for it in port.edits]


def _line(file: SourceFile, verdict: Verdict, told_at: int | None) -> str:
    site = verdict.site
    reason = verdict.reason
    if told_at is not None:
        function = _FUNCTION.match(reason)
        reason = f"{function.group() if function else ''}as in line {told_at}"
    place = f"{file.name}:{file.line(site.start)}:{file.column(site.start)}"
    chain = f" (under {' && '.join(site.conditions)})" if site.conditions else ""
    return f"{place}: {verdict.status.value} {site.what} [{verdict.rule}]: {reason}{chain}"


def _site(file: SourceFile, verdict: Verdict) -> dict[str, object]:
    site = verdict.site
    return {
        "file": file.name,
        "line": file.line(site.start),
        "column": file.column(site.start),
        "end_line": file.line(max(site.end - 1, site.start)),
        "kind": site.kind.value,
        "what": site.what,
        "where": site.where,
        "status": verdict.status.value,
        "rule": verdict.rule,
        "reason": verdict.reason,
        "conditions": list(site.conditions),
    }
