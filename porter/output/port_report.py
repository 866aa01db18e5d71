"""The report of a port: lines for people, one JSON document for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from porter.ledger.acknowledged import OpenPlace
from porter.ledger.before import Ledger
from porter.ledger.open_places import escalated, place_of
from porter.result import FilePort, PortResult
from porter.rules.ambiguous import Ambiguous
from porter.rules.verdict import Status, Verdict
from porter.source.source_file import SourceFile

SCHEMA = 1
Reasons = Mapping[OpenPlace, str]
_NOTHING: Reasons = {}
_SHOWN = 6  # devices
_LONG = 60  # characters; a shorter reason is said again
_FUNCTION = re.compile(r"\w+: ")


def summary(result: PortResult, acknowledged: Reasons = _NOTHING) -> str:
    """The line that counts."""
    answered = sum(place in acknowledged for _, place in escalated(result))
    return (
        f"{result.found} found, {result.count(Status.REWRITTEN)} rewritten, "
        f"{result.count(Status.LEFT)} left, {result.count(Status.ESCALATED)} escalated"
        + (f" ({answered} of them acknowledged)" if answered else "")
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


def lines(result: PortResult, status: Status, acknowledged: Reasons = _NOTHING) -> Iterator[str]:
    """One line a site that ended so: `file:line:col: escalated what [rule]: reason (if ...)`.

    A long reason is told at the first site of a file that has it. Of an acknowledged place, the
    reason is what a person wrote.
    """
    for port in result.files:
        told: dict[tuple[str, str], int] = {}
        for verdict in port.verdicts:
            if verdict.status is status:
                reason = verdict.rule, verdict.reason
                person = _person(port, verdict, acknowledged)
                yield _line(port.file, verdict, told.get(reason), person)
                if person is not None:
                    continue
                if len(verdict.reason) > _LONG:
                    told.setdefault(reason, port.file.line(verdict.site.start))


def _person(port: FilePort, verdict: Verdict, acknowledged: Reasons) -> str | None:
    if verdict.status is not Status.ESCALATED or not acknowledged:
        return None
    return acknowledged.get(place_of(port, verdict))


def as_json(
    result: PortResult, acknowledged: Reasons = _NOTHING, ledger: Ledger | None = None
) -> str:
    """Schema 1: counts, every site with its place, rule, reason and conditions, and the lines that
    change: whoever looks for a place of the project finds it in one of the two, or it was never
    seen."""
    sites = [
        _site(port, verdict, acknowledged) for port in result.files for verdict in port.verdicts
    ]
    document = {
        "schema": SCHEMA,
        "project": str(result.root),
        "guessed_cpu": list(result.guessed_cpu),
        "assumptions": list(assumptions(result)),
        "found": result.found,
        **{status.value: result.count(status) for status in Status},
        "acknowledged": sum("acknowledged" in site for site in sites),
        "sites": sites,
        **({} if ledger is None else {"ledger": _ledger(ledger)}),
        "edited": {port.file.name: edited_lines(port) for port in result.files if port.edits},
    }
    return json.dumps(document, indent=2) + "\n"


def _ledger(ledger: Ledger) -> dict[str, object]:
    return {
        "program": str(ledger.program),
        "findings": ledger.findings,
        "explained": ledger.explained,
        "by_name": ledger.by_name,
        "doubtful": ledger.doubtful,
        "has_lines": ledger.has_lines,
        "open": [
            {
                "where": it.where,
                "function": it.function,
                "rule": it.place.rule,
                "what": it.place.what,
                "line_text": it.place.text,
                "why": it.why,
            }
            for it in ledger.open
        ],
    }


def edited_lines(port: FilePort) -> list[list[int]]:
    """First and last line of each stretch of the original that is replaced or taken out."""
    if port.is_new:
        return []
    line = port.file.line
    replaced = (it for it in port.edits if it.start < it.end)
    return [[line(it.start), line(it.end - 1)] for it in replaced]


def _line(file: SourceFile, verdict: Verdict, told_at: int | None, person: str | None) -> str:
    site = verdict.site
    reason, ending = verdict.reason, verdict.status.value
    if person is not None:
        reason, ending = person, "acknowledged"
    elif told_at is not None:
        function = _FUNCTION.match(reason)
        reason = f"{function.group() if function else ''}as in line {told_at}"
    place = f"{file.name}:{file.line(site.start)}:{file.column(site.start)}"
    chain = f" (under {' && '.join(site.conditions)})" if site.conditions else ""
    return f"{place}: {ending} {site.what} [{verdict.rule}]: {reason}{chain}"


def _site(port: FilePort, verdict: Verdict, acknowledged: Reasons) -> dict[str, object]:
    file, site = port.file, verdict.site
    person = _person(port, verdict, acknowledged)
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
        "line_text": place_of(port, verdict).text,
        **({} if person is None else {"acknowledged": person}),
    }
