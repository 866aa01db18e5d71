"""Kernel objects of processes beyond signals, numbered, and the capabilities to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from composer.description.model import Control, ProcessPart, System
from composer.plan import FUNCTIONS, THREADS_MAX, Capability, DomainPlan, PortPlan, c_name


def _process(system: System, index: int) -> ProcessPart | None:
    return system.domains[index - 1].process if index else None


def plan_ports(system: System, index: int, threads: int) -> tuple[PortPlan, ...]:
    """Ports of a domain. What runs in them is numbered behind all `threads` of the system."""
    before = sum(len(p.process.ports) for p in system.processes[: max(index - 1, 0)] if p.process)
    process = _process(system, index)
    return tuple(
        PortPlan(
            before + n, threads + before + n, THREADS_MAX + n, port.name, port.function, port.stack
        )
        for n, port in enumerate(process.ports if process else ())
    )


def plan_slots(system: System, index: int) -> tuple[int, int]:
    """First and number of a domain's slots; (0, 0) for one without."""
    counts = [p.process.slots if p.process else 0 for p in system.processes]
    own = _process(system, index)
    count = own.slots if own else 0
    return (sum(counts[: index - 1]) if count else 0), count


def plan_memory(system: System, index: int) -> tuple[int, int]:
    """First word and words of a domain's kernel memory; (0, 0) for one without."""
    words = [p.process.memory.size // 4 if p.process and p.process.memory else 0
             for p in system.processes]  # fmt: skip
    own = _process(system, index)
    count = own.memory.size // 4 if own and own.memory else 0
    return (sum(words[: index - 1]) if count else 0), count


def rights_of(rights: tuple[str, ...], delegate: bool) -> tuple[str, ...]:
    """Rights, with that to delegate them."""
    return (*rights, "DELEGATE") if delegate else rights


def number_roots(domains: Sequence[DomainPlan]) -> list[DomainPlan]:
    """Gives each capability that may be delegated its number among those."""
    number, found = 0, []
    for domain in domains:
        capabilities = []
        for capability in domain.capabilities:
            if "DELEGATE" in capability.rights:
                capability = replace(capability, limit=number)
                number += 1
            capabilities.append(capability)
        found.append(replace(domain, capabilities=tuple(capabilities)))
    return found


def object_capabilities(
    system: System,
    index: int,
    ports: Sequence[Sequence[PortPlan]],
    thread_of: Callable[[str, str], int],
) -> tuple[Capability, ...]:
    """What a process may do with ports (its own, those of others; `ports` by domain), functions of
    the kernel, and threads (by process and name)."""
    process = _process(system, index)
    names = [None, *(d.name for d in system.domains)]
    if process is None:
        return ()
    own = [
        Capability(
            c_name(plan.name),
            "PORT",
            rights_of(("CONTROL", "INVOKE") if port.delegate else ("CONTROL",), port.delegate),
            plan.index,
        )
        for plan, port in zip(ports[index], process.ports, strict=True)
    ]
    others = [
        Capability(
            c_name(invoke.port),
            "PORT",
            rights_of(("INVOKE",), invoke.delegate),
            next(p.index for p in ports[names.index(invoke.process)] if p.name == invoke.port),
        )
        for invoke in process.invokes
    ]
    functions = [
        Capability(c_name(f.name), "FUNCTION", ("INVOKE",), FUNCTIONS.index(f.name))
        for f in process.functions
    ]
    threads = [
        Capability(
            c_name(control.thread),
            "THREAD",
            _rights(control),
            thread_of(control.process or system.domains[index - 1].name, control.thread),
            control.ceiling or 0,
        )
        for control in process.controls
    ]
    tables = [
        Capability(
            c_name(f"slots-{to.name}"),
            "TABLE",
            ("CONTROL",),
            names.index(to.name),
            _slots_of(system, to.name) if to.slots is None else to.slots,
        )
        for to in process.delegates
    ]
    memory = process.memory and Capability(
        "KERNEL_MEMORY", "MEMORY", ("CONTROL",), index, process.memory.ceiling
    )
    return (*own, *others, *functions, *threads, *tables, *((memory,) if memory else ()))


def _slots_of(system: System, name: str) -> int:
    return next(d.process.slots for d in system.domains if d.name == name and d.process)


def _rights(control: Control) -> tuple[str, ...]:
    given = {
        "START": control.start,
        "STOP": control.stop,
        "CONTROL": control.ceiling is not None,
    }
    return tuple(right for right, has in given.items() if has)
