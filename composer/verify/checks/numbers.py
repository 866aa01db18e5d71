"""Do the kernel's other tables say what the description implies?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from composer.verify.checks.words import Words
from composer.verify.objects import memory_of, slots_of
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
            ("fault signal", row.fault_signal, expected.fault_signal(index)),
            ("first port", row.port_first, next(iter(expected.ports_of(index)), 0)),
            ("number of ports", row.port_count, domain.ports),
            ("slots", (row.slot_first, row.slot_count), slots_of(expected, index)),
            ("kernel memory", (row.memory_first, row.memory_words), memory_of(expected, index)),
        ):
            if value != wanted:
                yield f"'{domain.name}': {what} is {value}, not {wanted}"


def check_threads(subject: Subject) -> Iterator[str]:
    """Threads with their priorities, and vCPUs with budget, watchdog and catch-up."""
    tables, expected = subject.tables, subject.expected
    threads = expected.threads()
    owners = [f"thread {n} ('{expected.names[t.domain]}')" for n, t in enumerate(threads)]
    yield from differences(subject, "threads", owners, tables.threads, threads)
    vms = [f"vCPU {n} ('{vm.name}')" for n, vm in enumerate(expected.system.vms)]
    yield from differences(subject, "vCPUs", vms, tables.vcpus, expected.vcpus())


def check_capabilities(subject: Subject) -> Iterator[str]:
    """What each process may name."""
    for row, domain in zip(subject.tables.domains, subject.expected.domains, strict=True):
        wanted = domain.capabilities
        names = [f"'{domain.name}': capability {n}" for n in range(len(wanted))]
        what = f"'{domain.name}': capabilities"
        yield from differences(subject, what, names, row.capabilities, wanted)
        if not row.capabilities and row.capability_place:
            yield f"'{domain.name}': no capabilities, but a table of them"


def check_routes(subject: Subject) -> Iterator[str]:
    """Every interrupt line goes where the description sends it; events and timers too."""
    tables, expected = subject.tables, subject.expected
    wanted = expected.routes()
    # Where no line goes anywhere there is no table.
    routes = [wanted.get(line, _NOWHERE) for line in range(subject.lines)] if wanted else []
    of_chip = {number: name for name, number in subject.chip.interrupts.items()}
    lines = [f"interrupt line {n} ({of_chip.get(n, 'unnamed')})" for n in range(subject.lines)]
    yield from differences(subject, "interrupt lines", lines, tables.routes, routes)
    events = [f"event {n} ({event.name})" for n, event in enumerate(expected.all_events)]
    yield from differences(subject, "events", events, tables.events, expected.events())
    timers = [f"timer {n}" for n in range(len(expected.timers))]
    yield from differences(subject, "timers", timers, tables.timers, expected.timers)


def check_pins(subject: Subject) -> Iterator[str]:
    """Output pins that domains may set."""
    wanted = subject.expected.pins()
    names = [f"pin grant {n} ('{subject.expected.names[p.domain]}')" for n, p in enumerate(wanted)]
    yield from differences(subject, "pin grants", names, subject.tables.pins, wanted)


def differences(
    subject: Subject, what: str, names: Sequence[str], found: Sequence[_T], wanted: Sequence[_T]
) -> Iterator[str]:
    """One finding a row; `names` are those of the wanted rows."""
    words = Words(subject.expected)
    if len(found) != len(wanted):
        yield f"{what}: {len(found)}, the description implies {len(wanted)}"
    for name, one, other in zip(names, found, wanted, strict=False):
        if one != other:
            yield f"{name}: {'; '.join(words.differences(one, other))}"
