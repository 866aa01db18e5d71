"""Does every thread go on with its own registers, and with no one else's?"""

from __future__ import annotations

from collections.abc import Iterator

from composer.verify.analysis import FAULT, PENDSV, SVC, Analysis
from composer.verify.checks.entries import vector_name
from composer.verify.code.effects import Access
from composer.verify.findings import Unreadable
from composer.verify.ownership.exits import Handler, System
from composer.verify.ownership.ledger import Ledger
from composer.verify.ownership.watch import Watch
from composer.verify.subject import Subject


def check_ownership(subject: Subject, analysis: Analysis) -> Iterator[str]:
    """On every way from an entry of the kernel to the exception return."""
    processes = [d for n, d in enumerate(subject.expected.domains) if n < subject.expected.first_vm]
    system = System(
        fpu=subject.chip.core.fpu,
        process_fpu=any(domain.fpu for domain in processes),
        vms=len(processes) < len(subject.expected.domains),
    )
    watch = Watch(system, who_runs(analysis), analysis.memory, analysis.stack_top)

    def enter(vectors: tuple[int, ...]) -> Ledger:
        return watch.enter(_handler(vectors))

    for vector, summary in analysis.observed(watch, enter):
        for problem in sorted(watch.problems | summary.problems):
            yield f"{vector_name(vector)}: {problem}"


def who_runs(analysis: Analysis) -> int:
    """Where the kernel keeps the thread that runs: SVCall looks there before all else."""
    call, ram = analysis.entry(SVC), analysis.kernel.ram
    looks = [
        (effect.at, effect.place)
        for effect in analysis.handlers[SVC].own
        if isinstance(effect, Access) and not effect.is_store and effect.at >= call
        if isinstance(effect.place, int) and effect.place in ram
    ]
    if not looks:
        raise Unreadable("SVCall doesn't look at who runs")
    return min(looks)[1]


def _handler(vectors: tuple[int, ...]) -> Handler:
    if SVC in vectors:
        return Handler.CALL
    if PENDSV in vectors:
        return Handler.DEFERRED
    return Handler.FAULT if FAULT in vectors else Handler.OTHER
