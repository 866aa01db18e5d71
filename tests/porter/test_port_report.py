"""The lines of a port's report."""

from __future__ import annotations

import json
from pathlib import Path

from porter.judging.verdict import Status, Verdict
from porter.output.json_report import as_json
from porter.output.port_report import lines
from porter.result import FilePort, PortResult
from porter.sites.site import Site, SiteKind
from porter.source.source_file import SourceFile

LONG = "Handler: 94 instructions transcribed; proved: equal from 1748 states (all 94 ran)"


def report(*reasons: str, status: Status = Status.REWRITTEN) -> PortResult:
    """A file with a site of each reason, one a line."""
    file = SourceFile(Path("a.S"), "a.S", b"cpsid i\n" * len(reasons))
    verdicts = tuple(
        Verdict(Site("a.S", 8 * n, 8 * n + 7, SiteKind.ASM, "cpsid i"), status, "rule", reason)
        for n, reason in enumerate(reasons)
    )
    return PortResult(Path("/p"), (FilePort(file, (), verdicts),), 1)


def test_a_long_reason_is_told_once_a_function() -> None:
    other = LONG.replace("Handler", "Start")
    shown = lines(report(LONG, LONG, other, LONG, other), Status.REWRITTEN)
    assert [line.partition("[rule]: ")[2] for line in shown] == [
        LONG, "Handler: as in line 1", other, "Handler: as in line 1", "Start: as in line 3",
    ]  # fmt: skip


def test_a_long_reason_without_a_function_is_told_once_too() -> None:
    reason = "not understood: " + "x" * 80
    shown = lines(report(reason, reason, status=Status.ESCALATED), Status.ESCALATED)
    assert [line.partition("[rule]: ")[2] for line in shown] == [reason, "as in line 1"]


def test_a_short_reason_is_said_again() -> None:
    shown = lines(report("removed", "removed"), Status.REWRITTEN)
    assert [line.partition("[rule]: ")[2] for line in shown] == ["removed", "removed"]


def test_each_file_tells_its_own_reasons() -> None:
    twice = report(LONG)
    result = PortResult(twice.root, twice.files * 2, 2)
    assert all(line.endswith(LONG) for line in lines(result, Status.REWRITTEN))


def test_programs_get_every_reason_in_full() -> None:
    sites = json.loads(as_json(report(LONG, LONG)))["sites"]
    assert [site["reason"] for site in sites] == [LONG, LONG]
