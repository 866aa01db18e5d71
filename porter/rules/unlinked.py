"""Functions that nothing in the ported machine leads to."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from porter.rules.unit import Unit
from porter.rules.verdict import Status, Verdict

RULE = "unlinked"
WhyNot = Callable[[str], str | None]
"""Why a function never runs, None if it may."""


def unlinked(unit: Unit, why_not: WhyNot) -> Iterator[Verdict]:
    """Sites that would need a person, in functions that are not linked."""
    for site, verdict in unit.verdicts.items():
        if verdict.status is not Status.ESCALATED:
            continue
        context = unit.context(site)
        if context is None or context.kind != "function":
            continue
        reason = why_not(context.name)
        if reason is not None:
            yield Verdict(site, Status.LEFT, RULE, f"{reason}; else: {verdict.reason}")
