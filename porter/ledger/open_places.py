"""The escalated sites of a port, as places that a person has to look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from porter.judging.verdict import Status, Verdict
from porter.ledger.acknowledged import Acknowledgement, OpenPlace, Settled, plain, settle
from porter.result import FilePort, PortResult
from scanner.catalogue import catalogue


def place_of(port: FilePort, verdict: Verdict) -> OpenPlace:
    """Line and text of a site in the original."""
    file, start = port.file, verdict.site.start
    text = file.data[file.line_start(start) : file.line_end(start)].decode("utf-8", "replace")
    return OpenPlace(verdict.rule, file.name, file.line(start), plain(text), verdict.site.what)


def escalated(result: PortResult) -> Iterator[tuple[Verdict, OpenPlace]]:
    """Every site that the porter couldn't decide."""
    for port in result.files:
        for verdict in port.verdicts:
            if verdict.status is Status.ESCALATED:
                yield verdict, place_of(port, verdict)


def settle_port(result: PortResult, given: Sequence[Acknowledgement]) -> Settled:
    """Which of them a person answers for; acknowledgements of the scanner's rules are not judged
    here, since there is no program yet."""
    scanners = catalogue()
    mine = [it for it in given if it.rule not in scanners]
    return settle((place for _, place in escalated(result)), mine)
