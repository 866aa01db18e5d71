"""Functions and macros that nothing in the ported machine leads to."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from porter.rules.unit import Unit
from porter.rules.verdict import Status, Verdict
from porter.sites.context import Context
from porter.source.c_tree import text_of

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
            if not name or _is_pasted(unit, context, name):
                continue
        else:
            continue
        reason = why_not(name)
        if reason is not None:
            yield Verdict(site, Status.LEFT, RULE, f"{reason}; else: {verdict.reason}")


def _is_pasted(unit: Unit, context: Context, name: str) -> bool:
    """`ISR(TIM2) {`, which parses as a TIM2 of type ISR: what the function is called is unknown."""
    declared = context.root.child_by_field_name("type")
    written = {name.encode("latin-1"), text_of(declared) if declared is not None else b""}
    found = [unit.text.evaluator.macros.get(word) for word in written]
    return any(macro is not None and macro.parameters is not None for macro in found)
