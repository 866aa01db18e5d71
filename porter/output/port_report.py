"""The report of a port: lines for people, one JSON document for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from porter.result import PortResult
from porter.rules.ambiguous import Ambiguous
from porter.rules.verdict import Status, Verdict
from porter.source.source_file import SourceFile

SCHEMA = 1
_SHOWN = 6  # devices
_LONG = 60  # characters; a shorter reason is said again
_FUNCTION = re.compile(r"\w+: ")


def summary(result: PortResult) -> str:
    """The line that counts."""
    return (
        f"{result.found} found, {result.count(Status.REWRITTEN)} rewritten, "
        f"{result.count(Status.LEFT)} left, {result.count(Status.ESCALATED)} escalated"
    )


def assumptions(result: PortResult) -> Iterator[str]:
    """What was taken for granted, and how to say it."""
    verdicts = [verdict for port in result.files for verdict in port.verdicts]
    depends = any(it.site.conditions or it.rule == Ambiguous.id for it in verdicts)
    if result.assumes_options and depends:
        yield (
            "no makefile, compile_commands.json or project file tells the compiler's options: "
            "nothing counts as defined by -D, every arm of #if was ported, and each file was read "
            "with the headers nearest to it"
        )
    if result.devices:
        shown = [f"{name} (0x{address:08X})" for address, name in result.devices.items()]
        more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
        yield (
            f"without --domain nobody says whose the devices are at {', '.join(shown[:_SHOWN])}"
            f"{more}: what the code does to them counts as the machine's own affair"
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
    """Schema 1: counts, and every site with its place, rule, reason and conditions."""
    sites = [_site(port.file, verdict) for port in result.files for verdict in port.verdicts]
    document = {
        "schema": SCHEMA,
        "project": str(result.root),
        "guessed_cpu": list(result.guessed_cpu),
        "assumptions": list(assumptions(result)),
        "found": result.found,
        **{status.value: result.count(status) for status in Status},
        "sites": sites,
    }
    return json.dumps(document, indent=2) + "\n"


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
        "kind": site.kind.value,
        "what": site.what,
        "where": site.where,
        "status": verdict.status.value,
        "rule": verdict.rule,
        "reason": verdict.reason,
        "conditions": list(site.conditions),
    }
