"""Context switches in the start-up file would be lost: the generated one takes its place."""

from __future__ import annotations

from porter.judging.docket import Docket
from porter.judging.verdict import Status, Verdict
from porter.project.staying import START_UP
from porter.project.vectors import PENDSV, SVC

_LOST = (
    "stands in the start-up file, whose place the generated one takes: move it to a file of its "
    "own, where it is transcribed"
)


def judge_start_up(docket: Docket) -> None:
    """A start-up file has no context switch of the machine's."""
    vectors = docket.project.vectors
    lost = {
        verdict.site: Verdict(
            verdict.site, Status.ESCALATED, verdict.rule, f"{verdict.site.where} {_LOST}"
        )
        for verdict in docket.verdicts()
        if verdict.reason in START_UP and vectors.served_by([verdict.site.where]) & {SVC, PENDSV}
    }
    docket.change(lost)
