"""Do the kernel's other tables say what the description implies?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from composer.verify.described import FAULT
from composer.verify.subject import Subject
from composer.verify.tables import NO_INDEX, Route

_T = TypeVar("_T")
_NOWHERE = Route(0, 0, 0, 0)


def check_domains(subject: Subject) -> Iterator[str]:
    """Names, threads and numbers of the domains."""
    expected = subject.expected
    for index, (row, domain) in enumerate(
        zip(subject.tables.domains, expected.domains, strict=True)
    ):
        vcpu = index - expected.first_vm if domain.vm else NO_INDEX
        for what, value, wanted in (
            ("name", row.name, domain.name[:24]),
            ("vCPU", row.vcpu, vcpu),
            ("first thread", row.thread_first, expected.first_thread(index)),
            ("number of threads", row.thread_count, len(domain.priorities)),
            # A fault of the hypervisor resets the chip: nobody else could decide about it.
            ("fault signal", row.fault_signal, FAULT if index else NO_INDEX),
        ):
            if value != wanted:
                yield f"'{domain.name}': {what} is {value}, not {wanted}"


def check_threads(subject: Subject) -> Iterator[str]:
    """Threads with their priorities, and vCPUs with budget, watchdog and catch-up."""
    yield from _differences("thread", subject.tables.threads, subject.expected.threads())
    yield from _differences("vCPU", subject.tables.vcpus, subject.expected.vcpus())


def check_capabilities(subject: Subject) -> Iterator[str]:
    """What each process may name."""
    for row, domain in zip(subject.tables.domains, subject.expected.domains, strict=True):
        yield from _differences(
            f"'{domain.name}': capability", row.capabilities, domain.capabilities
        )
        if not row.capabilities and row.capability_place:
            yield f"'{domain.name}': no capabilities, but a table of them"


def check_routes(subject: Subject) -> Iterator[str]:
    """Every interrupt line goes where the description sends it; events and timers too."""
    wanted = subject.expected.routes()
    routes = [wanted.get(line, _NOWHERE) for line in range(subject.lines)]
    yield from _differences("interrupt line", subject.tables.routes, routes)
    yield from _differences("event", subject.tables.events, subject.expected.events())
    yield from _differences("timer", subject.tables.timers, subject.expected.timers)


def check_pins(subject: Subject) -> Iterator[str]:
    """Output pins that domains may set."""
    yield from _differences("pin grant", subject.tables.pins, subject.expected.pins())


def _differences(what: str, found: Sequence[_T], wanted: Sequence[_T]) -> Iterator[str]:
    if len(found) != len(wanted):
        yield f"{what}s: {len(found)}, the description implies {len(wanted)}"
    for number, (one, other) in enumerate(zip(found, wanted, strict=False)):
        if one != other:
            yield f"{what} {number} is {one}, the description implies {other}"
