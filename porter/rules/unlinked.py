"""Functions and macros that nothing in the ported machine leads to."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from porter.rules.unit import Unit
from porter.rules.verdict import Status, Verdict
from porter.sites.context import is_called_by_name

RULE = "unlinked"
WhyNot = Callable[[str], str | None]
"""Why a function or macro is never used, None if it may be."""


def unlinked(unit: Unit, why_not: WhyNot) -> Iterator[Verdict]:
    """Sites that would need a person, in functions and macros that nothing uses."""
    for site, verdict in unit.verdicts.items():
        if verdict.status is not Status.ESCALATED:
            continue
        macro = unit.region(site).name
        context = unit.context(site)
        if macro is not None:
            name = macro.decode("latin-1")
        elif context is not None and context.kind == "function":
            name = context.name
            if not is_called_by_name(context.root, unit.text.evaluator):
                continue
        else:
            continue
        reason = why_not(name)
        if reason is not None:
            yield Verdict(site, Status.LEFT, RULE, f"{reason}; else: {verdict.reason}")
