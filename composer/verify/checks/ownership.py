"""Does every thread go on with its own registers, and with no one else's?"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from composer.verify.analysis import FAULTS, PENDSV, SVC, Analysis, Kernel, analysis_of
from composer.verify.checks.entries import vector_name
from composer.verify.code.decode import Decoder
from composer.verify.code.effects import Access
from composer.verify.code.state import entered
from composer.verify.code.step import Stepper
from composer.verify.findings import Unreadable
from composer.verify.ownership.exits import Handler, System
from composer.verify.ownership.ledger import Ledger
from composer.verify.ownership.watch import Watch
from composer.verify.subject import Subject


def check_ownership(subject: Subject, analysis: Analysis) -> Iterator[str]:
    """On every way from an entry of the kernel to the exception return."""
    processes = subject.expected.domains[: subject.expected.first_vm]
    system = System(
        fpu=subject.chip.core.fpu,
        process_fpu=any(domain.fpu for domain in processes),
        vms=len(processes) < len(subject.expected.domains),
    )
    yield from strangers(analysis.kernel, system)


@lru_cache(maxsize=2)
def strangers(kernel: Kernel, system: System) -> tuple[str, ...]:
    """What is wrong with a kernel; of one that was seen just before it is at hand."""
    analysis = analysis_of(kernel)
    return tuple(watched(analysis, watch_of(analysis, system)))


def watch_of(analysis: Analysis, system: System) -> Watch:
    """That knows where the kernel keeps who runs."""
    return Watch(system, who_runs(analysis), analysis.memory, analysis.stack_top)


def watched(analysis: Analysis, watch: Watch) -> Iterator[str]:
    """What a watch finds."""

    def enter(vectors: tuple[int, ...]) -> Ledger:
        return watch.enter(_handler(vectors))

    for vector, summary in analysis.observed(watch, enter):
        for problem in sorted(watch.problems | summary.problems):
            yield f"{vector_name(vector)}: {problem}"


def who_runs(analysis: Analysis) -> int:
    """Where the kernel keeps the thread that runs: SVCall looks there before all decisions."""
    stepper = Stepper(analysis.memory, analysis.kernel.ram, analysis.stack_top)
    decoder, state = Decoder(analysis.memory), entered(analysis.entry(SVC), ())
    while True:
        instruction = decoder.at(state.pc)
        following = [] if instruction is None else stepper.step(state, instruction)
        for load in (e for e in stepper.effects if isinstance(e, Access) and not e.is_store):
            if isinstance(load.place, int) and load.place in analysis.kernel.ram:
                return load.place
        if len(following) != 1 or following[0].kind != "go" or following[0].state.pc <= state.pc:
            raise Unreadable("SVCall doesn't look at who runs before it decides anything")
        state = following[0].state


def _handler(vectors: tuple[int, ...]) -> Handler:
    """What a handler may do, if it is for nothing else."""
    kinds = {Handler.CALL: {SVC}, Handler.DEFERRED: {PENDSV}, Handler.FAULT: set(FAULTS)}
    return next((kind for kind, own in kinds.items() if own >= set(vectors)), Handler.OTHER)
