"""Two places that start the tick, at two rates: a machine has one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from porter.judging.docket import Docket
from porter.judging.facts import Tick
from porter.judging.verdict import Status, Verdict
from porter.sites.site import Site

RULE = "tick-sources"


def judge_ticks(docket: Docket) -> None:
    """Places in code that may run, and have a call of hyp_tick_set() now, whose rates differ."""
    rewritten = {it.site for it in docket.verdicts() if it.status is Status.REWRITTEN}
    ticks = [tick for one in docket.facts for tick in one.ticks if tick.site in rewritten]
    files = {port.file.name: port.file for port in docket.ports.values()}

    def place(site: Site) -> str:
        return f"{site.file}:{files[site.file].line(site.start)}"

    docket.change({it.site: it for it in _different(ticks, place)})


def _different(ticks: Sequence[Tick], place: Callable[[Site], str]) -> Iterator[Verdict]:
    """A rate that is known while running contradicts nothing."""
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
