"""The report of a port as one JSON document, for programs."""

from __future__ import annotations

import json
from dataclasses import asdict

from porter.judging.verdict import Status, Verdict
from porter.ledger.before import Ledger
from porter.ledger.open_places import place_of
from porter.output.port_report import NOTHING, Reasons, assumptions, person_for, to_send
from porter.output.vendor_report import vendor_json
from porter.result import FilePort, PortResult
from porter.source.source_file import SourceFile

SCHEMA = 1


def as_json(
    result: PortResult, acknowledged: Reasons = NOTHING, ledger: Ledger | None = None
) -> str:
    """Schema 1: counts, every site with its place, rule, reason and conditions, and the lines that
    change: whoever looks for a place of the project finds it in one of the two, or in a file that
    is unread, or it was never seen. A file that failed is one site as a whole."""
    sites = [
        {
            **_site(port, verdict, acknowledged),
            **({} if vendor is None else {"vendor": vendor}),
        }
        for port in result.files
        for vendor in [result.vendors.of(port.file.name)]
        for verdict in port.verdicts
    ]
    document = {
        "schema": SCHEMA,
        "project": str(result.root),
        "guessed_cpu": list(result.guessed_cpu),
        "assumptions": list(assumptions(result)),
        "unread": list(result.unread),
        "failed": [asdict(failure) for failure in result.failures],
        **({"send": to_send(result)} if result.failures else {}),
        "found": result.found,
        **{status.value: result.count(status) for status in Status},
        "vendor": vendor_json(result),
        "acknowledged": sum("acknowledged" in site for site in sites),
        "missing_headers": [
            {
                **_where(it.file, it.offset),
                "name": it.name,
                "count": it.count,
                "certain": it.is_certain,
                "conditions": list(it.conditions),
            }
            for it in result.unseen.headers
        ],
        "unknown_calls": [
            {
                **_where(it.file, it.offset),
                "name": it.name,
                "count": it.count,
                **({"archive": it.archive} if it.archive else {}),
            }
            for it in result.unseen.calls
        ],
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


def _where(file: SourceFile, offset: int) -> dict[str, object]:
    return {"file": file.name, "line": file.line(offset), "column": file.column(offset)}


def _site(port: FilePort, verdict: Verdict, acknowledged: Reasons) -> dict[str, object]:
    file, site = port.file, verdict.site
    person = person_for(port, verdict, acknowledged)
    return {
        **_where(file, site.start),
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
