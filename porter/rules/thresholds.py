"""BASEPRI leaves urgent interrupts running: does the description say which?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from porter.project.domain import Domain
from porter.rules.facts import Facts
from porter.rules.unit import PRIORITY_BITS, Unit
from porter.rules.verdict import Status, Verdict

RULE = "threshold"
_UPPER_BITS = 0xE0  # of a priority: every core with BASEPRI has them


def kept(unit: Unit, number: int) -> int | None:
    """What BASEPRI keeps of a number: 0 masks nothing. None if that depends on how many bits the
    chip's priorities have, and neither the project nor the description says."""
    byte = number & 0xFF
    written = unit.text.evaluator.macros.all_of(PRIORITY_BITS)
    described = unit.domain.priority_bits if unit.domain is not None else None
    if len(written) == 1 or (not written and described is not None):
        return byte & 0xFF << unit.priority_shift
    return byte if not byte or byte & _UPPER_BITS else None


def judge_thresholds(domain: Domain, facts: Iterable[Facts]) -> Iterator[Verdict]:
    """Verdicts on priorities that contradict a vector's `mask` in the description."""
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
