"""BASEPRI leaves urgent interrupts running: does the description say which?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from porter.judging.docket import Docket
from porter.judging.facts import Facts
from porter.judging.verdict import Status, Verdict
from porter.project.domain import Domain

RULE = "threshold"


def judge_thresholds(docket: Docket) -> None:
    """Priorities that contradict a vector's `mask` in the description are a person's."""
    domain = docket.project.domain
    if domain is not None:
        docket.change({it.site: it for it in _contradictions(domain, docket.facts)})


def _contradictions(domain: Domain, facts: Iterable[Facts]) -> Iterator[Verdict]:
    known = list(facts)
    thresholds = {value for one in known for value in one.thresholds}
    if not thresholds:
        return
    threshold = min(thresholds)
    for priority in (priority for one in known for priority in one.priorities):
        vector = domain.vector_of_irq(priority.irq)
        masked = priority.byte >= threshold
        if vector is None or vector.maskable == masked:
            continue
        wanted = "maskable" if masked else "transparent"
        compared = "not more urgent than" if masked else "more urgent than"
        reason = (
            f"priority 0x{priority.byte:02X} is {compared} the BASEPRI threshold "
            f'0x{threshold:02X}: the description must say mask="{wanted}" for {vector.name}'
        )
        yield Verdict(priority.site, Status.ESCALATED, RULE, reason)
