"""Sites inside functions that the transcriber of context switches took over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from porter.context_switch.result import ESCALATED, ROLE_OTHER, SwitchPort
from porter.rules.unit import Unit
from porter.rules.verdict import Status, Verdict
from porter.sites.site import SiteKind
from porter.source.edit import Edit

RULE = "context-switch"


def transcribed(unit: Unit, ports: Sequence[SwitchPort]) -> Iterator[Verdict]:
    """Verdicts for the functions that became C, and for handlers that couldn't."""
    for port in ports:
        edit = Edit(port.start, port.end, port.replacement)
        if port.status != ESCALATED:
            unit.extra_edits.append(edit)
        if port.status == ESCALATED and port.role == ROLE_OTHER:
            continue
        status = Status(port.status)
        for site in unit.pending():
            if port.start <= site.start and site.end <= port.end:
                yield Verdict(site, status, RULE, f"{port.name}: {port.reason}")


def not_transcribed(unit: Unit, ports: Sequence[SwitchPort]) -> Iterator[Verdict]:
    """What is still open in functions that neither the transcriber nor a rule understood.

    A file that the transcriber couldn't compile says so at every instruction that stays.
    """
    for port in ports:
        if port.status == ESCALATED and port.start == port.end == 0:
            for site, verdict in list(unit.verdicts.items()):
                if site.kind is SiteKind.ASM and verdict.status is Status.ESCALATED:
                    reason = f"{verdict.reason}; {port.reason}"
                    unit.verdicts[site] = replace(verdict, reason=reason)
    for port in (port for port in ports if port.status == ESCALATED):
        told = f"{port.name}: {port.reason}"
        for site in unit.pending():
            if port.start <= site.start and site.end <= port.end:
                yield Verdict(site, Status.ESCALATED, RULE, told)
        for site, verdict in list(unit.verdicts.items()):
            inside = port.start <= site.start and site.end <= port.end
            if inside and site.kind is SiteKind.ASM and verdict.status is Status.ESCALATED:
                unit.verdicts[site] = Verdict(site, Status.ESCALATED, RULE, told)
