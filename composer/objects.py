"""Kernel objects of processes beyond signals, numbered, and the capabilities to them."""

from __future__ import annotations

from collections.abc import Sequence

from composer.description.model import ProcessPart, System
from composer.plan import THREADS_MAX, Capability, PortPlan, c_name


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


def object_capabilities(
    system: System, index: int, ports: Sequence[Sequence[PortPlan]]
) -> tuple[Capability, ...]:
    """What a process may do with ports: control its own, then invoke others; `ports` by domain."""
    process = _process(system, index)
    names = [None, *(d.name for d in system.domains)]
    if process is None:
        return ()
    own = [Capability(c_name(p.name), "PORT", ("CONTROL",), p.index) for p in ports[index]]
    others = [
        Capability(
            c_name(invoke.port),
            "PORT",
            ("INVOKE",),
            next(p.index for p in ports[names.index(invoke.process)] if p.name == invoke.port),
        )
        for invoke in process.invokes
    ]
    return (*own, *others)
