"""Capabilities of processes to objects, and room for those of the run time, as described."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace

from composer.description.model import Domain, ProcessPart
from composer.verify.described import Described
from composer.verify.tables import Capability

CAP_PORT, CAP_FUNCTION, CAP_THREAD, CAP_TABLE, CAP_MEMORY = range(7, 12)
CONTROL, INVOKE, START, STOP, DELEGATE = 4, 16, 32, 64, 128
FUNCTIONS = {"reset": 0, "restart": 1, "ticks": 2, "cycles": 3}


def object_capabilities(described: Described, index: int) -> tuple[Capability, ...]:
    """In the order of the table: own ports, others' ports, functions, threads, slots, memory."""
    source = described.sources[index]
    process = source.process if source else None
    if source is None or process is None:
        return ()
    return (
        *_ports(described, process, index),
        *(Capability(CAP_FUNCTION, INVOKE, FUNCTIONS[f.name]) for f in process.functions),
        *_threads(described, source, process),
        *_tables(described, process),
        *_memory(process, index),
    )


def _ports(described: Described, process: ProcessPart, index: int) -> list[Capability]:
    found = []
    for port, number in zip(process.ports, described.ports_of(index), strict=True):
        passed_on = (INVOKE | DELEGATE) * port.delegate
        found.append(Capability(CAP_PORT, CONTROL | passed_on, number))
    for invoke in process.invokes:
        number = described.ports[invoke.process, invoke.port]
        found.append(Capability(CAP_PORT, INVOKE | DELEGATE * invoke.delegate, number))
    return found


def _threads(described: Described, source: Domain, process: ProcessPart) -> list[Capability]:
    found = []
    for control in process.controls:
        owner = described.names.index(control.process or source.name)
        rights = START * control.start | STOP * control.stop
        if control.ceiling is not None:
            rights |= CONTROL
        number = described.thread_number(owner, control.thread)
        found.append(Capability(CAP_THREAD, rights, number, control.ceiling or 0))
    return found


def _tables(described: Described, process: ProcessPart) -> list[Capability]:
    found = []
    for to in process.delegates:
        number = described.names.index(to.name)
        receiver = described.sources[number]
        all_of = receiver.process.slots if receiver and receiver.process else 0
        may_fill = all_of if to.slots is None else to.slots
        found.append(Capability(CAP_TABLE, CONTROL, number, may_fill))
    return found


def _memory(process: ProcessPart, index: int) -> list[Capability]:
    if process.memory is None:
        return []
    return [Capability(CAP_MEMORY, CONTROL, index, process.memory.ceiling)]


def with_roots(tables: Iterable[tuple[Capability, ...]]) -> list[tuple[Capability, ...]]:
    """Capabilities by domain; those that may be delegated carry their number among all of these."""
    numbers = itertools.count()
    return [
        tuple(replace(c, limit=next(numbers)) if c.rights & DELEGATE else c for c in capabilities)
        for capabilities in tables
    ]


def slots_of(described: Described, index: int) -> tuple[int, int]:
    """First and number of a domain's slots, which lie one behind the other."""
    return _span([p.slots if p else 0 for p in _processes(described)], index)


def memory_of(described: Described, index: int) -> tuple[int, int]:
    """First word and number of words of a domain's kernel memory."""
    sizes = [p.memory.size // 4 if p and p.memory else 0 for p in _processes(described)]
    return _span(sizes, index)


def _processes(described: Described) -> list[ProcessPart | None]:
    return [source.process if source else None for source in described.sources]


def _span(sizes: list[int], index: int) -> tuple[int, int]:
    return (sum(sizes[:index]), sizes[index]) if sizes[index] else (0, 0)
