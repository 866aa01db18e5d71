"""Rules about ports and who invokes them."""

from __future__ import annotations

from collections.abc import Mapping

from composer.description.model import Domain, Invoke, System
from composer.plan import PORTS_MAX

_Calls = Mapping[str, tuple[Invoke, ...]]


def check_invocation(system: System) -> None:
    """Raise the first rule that ports or invocations break."""
    servers = {p.name: p for p in system.processes}
    ports = [port for p in system.processes if p.process for port in p.process.ports]
    if len(ports) > PORTS_MAX:
        raise ports[PORTS_MAX].place.error(
            f"the system has {len(ports)} ports", f"at most {PORTS_MAX}"
        )
    calls = {p.name: p.process.invokes if p.process else () for p in system.processes}
    for name, invokes in calls.items():
        for invoke in invokes:
            _known(invoke, servers)
            ring = _ring(calls, name, invoke)
            if ring is not None:
                raise invoke.place.error(
                    f"invocations go round in a ring: {' -> '.join(ring)}",
                    "a thread that came back would find the port busy: use an event one way",
                )


def _known(invoke: Invoke, servers: Mapping[str, Domain]) -> None:
    server = servers.get(invoke.process)
    if server is None:
        raise invoke.place.error(
            f"no process '{invoke.process}'", f"known: {', '.join(servers) or 'none'}"
        )
    names = [port.name for port in (server.process.ports if server.process else ())]
    if invoke.port not in names:
        raise invoke.place.error(
            f"'{invoke.process}' has no port '{invoke.port}'",
            f"known: {', '.join(names)}" if names else "add a <port> to it",
        )


def _ring(calls: _Calls, start: str, first: Invoke) -> list[str] | None:
    """The way back to where an invocation starts, if there is one."""
    ways = [[start, first.process]]
    seen: set[str] = set()
    while ways:
        way = ways.pop()
        if way[-1] == start:
            return way
        if way[-1] not in seen:
            seen.add(way[-1])
            ways += [[*way, invoke.process] for invoke in calls.get(way[-1], ())]
    return None
