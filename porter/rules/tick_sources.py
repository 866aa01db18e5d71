"""Two places that start the tick, at two rates: a machine has one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from porter.rules.facts import Facts
from porter.rules.verdict import Status, Verdict
from porter.sites.site import Site

RULE = "tick-sources"


def judge_ticks(
    facts: Iterable[Facts],
    is_rewritten: Callable[[Site], bool],
    place: Callable[[Site], str],
) -> Iterator[Verdict]:
    """Verdicts on places in code that may run whose rates differ. `is_rewritten`: whether a place
    has a call of hyp_tick_set() now; a rate that is known while running contradicts nothing."""
    ticks = [tick for one in facts for tick in one.ticks if is_rewritten(tick.site)]
    rates = {tick.hz for tick in ticks if tick.hz is not None}
    if len(rates) < 2:
        return
    for tick in ticks:
        others = [
            f"{place(other.site)} at {other.hz} Hz"
            for other in ticks
            if other.hz not in (tick.hz, None)
        ]
        mine = f"{tick.hz} Hz" if tick.hz is not None else "a rate known while running"
        reason = (
            f"starts the tick at {mine}, and {', '.join(others)} starts it too: a machine has one "
            "tick; the last call decides. Keep one, and count periods in its handler for the other"
        )
        yield Verdict(tick.site, Status.ESCALATED, RULE, reason)
