"""Feeds of a watchdog that the program may never start: a machine's starts with the first feed."""

from __future__ import annotations

from porter.judging.docket import Docket
from porter.judging.verdict import Status, Verdict

RULE = "watchdogs"
_ONLY = (
    "{why}, and a machine's starts with the first feed: {what}, or write hyp_wdg_clr() if an "
    "option byte starts it"
)


def judge_watchdogs(docket: Docket) -> None:
    """Feeds in a program of which no start is certain."""
    rewritten = {it.site for it in docket.verdicts() if it.status is Status.REWRITTEN}
    found = [it for one in docket.facts for it in one.watchdogs if it.site in rewritten]
    starts = [it for it in found if it.starts]
    if any(not it.condition for it in starts):
        return
    if starts:
        why = f"the watchdog is only started {starts[0].condition}"
        reason = _ONLY.format(why=why, what="feed it under the same condition")
    else:
        why = "nothing in the program starts the watchdog (0xCCCC into KR)"
        reason = _ONLY.format(why=why, what="take the feeds out")
    docket.withdraw({
        it.site: Verdict(it.site, Status.ESCALATED, RULE, reason) for it in found if not it.starts
    })  # fmt: skip
