"""Code for settings that the project never asks a driver for."""

from __future__ import annotations

from collections.abc import Iterator

from porter.rules.unit import Unit
from porter.rules.verdict import Status, Verdict

RULE = "never-runs"


def never_runs(unit: Unit) -> Iterator[Verdict]:
    """Sites that would need a person, in branches that nothing leads to.

    They stay as they are. Should one run all the same, protection stops it and names the line.
    """
    for site, verdict in unit.verdicts.items():
        if verdict.status is not Status.ESCALATED:
            continue
        reason = unit.why_never(site)
        if reason is not None:
            yield Verdict(site, Status.LEFT, RULE, f"{reason}; else: {verdict.reason}")
