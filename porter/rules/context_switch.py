"""Sites inside functions that the transcriber of context switches looked at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from porter.context_switch.result import ESCALATED, ROLE_OTHER, SwitchPort
from porter.judging.unit import Unit
from porter.judging.verdict import Status, Verdict
from porter.rules.rule import Revision, Rule
from porter.rules.unknown import Unknown
from porter.sites.site import Site, SiteKind
from porter.source.edit import Edit


class Transcribed(Rule):
    """Functions that became C, and handlers that couldn't."""

    id = "context-switch"
    finds = "a place in a handler that switches contexts, or in what goes with it"
    becomes = "C over virt_int_*, proved against the original"
    why = "a switch changes registers that a guest doesn't have"

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """Sites of the functions, whose edits are the unit's: a function needn't have a site."""
        for port in unit.switches:
            if port.status != ESCALATED:
                unit.extra_edits.append(Edit(port.start, port.end, port.replacement))
            elif port.role == ROLE_OTHER:
                continue
            for site in unit.pending():
                if _is_inside(site, port):
                    yield Verdict(site, Status(port.status), self.id, _told(port))


class NotTranscribed(Revision):
    """What is still open in functions that neither the transcriber nor a rule understood.

    A file that the transcriber couldn't compile says so at every instruction that stays.
    """

    id = "context-switch"
    finds = "a place that no rule understood, in a function that the transcriber gave up"
    becomes = "itself"
    why = "the transcriber's reason says more than that of a rule that saw one instruction"

    def examine(self, unit: Unit) -> Iterator[Verdict]:
        """One verdict for each function that such a site is in, the last one counts."""
        given_up = [port for port in unit.switches if port.status == ESCALATED]
        for site, verdict in list(unit.verdicts.items()):
            is_open = verdict.rule == Unknown.id
            stays = site.kind is SiteKind.ASM and verdict.status is Status.ESCALATED
            if not is_open and stays:
                reasons = [port.reason for port in given_up if port.start == port.end == 0]
                reason = "; ".join([verdict.reason, *reasons])
                yield replace(verdict, reason=reason)
            for port in given_up if is_open or stays else ():
                if _is_inside(site, port):
                    yield Verdict(site, Status.ESCALATED, self.id, _told(port))


def _is_inside(site: Site, port: SwitchPort) -> bool:
    return port.start <= site.start and site.end <= port.end


def _told(port: SwitchPort) -> str:
    return f"{port.name}: {port.reason}"
