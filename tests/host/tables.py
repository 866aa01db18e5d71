"""The description's tables as the driver tells them: what kernel and model both start from."""

from __future__ import annotations

from dataclasses import dataclass, field

NO_INDEX = 0xFF

# Route kinds; TRANSPARENT is or-ed.
ROUTE_VCPU, ROUTE_SIGNAL, ROUTE_TRANSPARENT = 1, 2, 0x80


@dataclass(frozen=True)
class Capability:
    type: int
    rights: int
    index: int


@dataclass(frozen=True)
class Domain:
    ram: int
    ram_size: int
    flash: int
    flash_size: int
    vcpu: int
    thread_first: int
    thread_count: int
    fault_signal: int
    fpu: int
    capabilities: list[Capability] = field(default_factory=list)

    @property
    def threads(self) -> range:
        return range(self.thread_first, self.thread_first + self.thread_count)


@dataclass(frozen=True)
class Thread:
    domain: int
    slot: int
    priority: int


@dataclass(frozen=True)
class Vcpu:
    domain: int
    vct: int
    usr: int
    vectors: int
    request_signal: int
    budget_signal: int
    catchup: int
    budget: int
    watchdog: int
    text: int


@dataclass(frozen=True)
class Route:
    kind_word: int
    target: int
    virt_id: int
    bottom: int

    @property
    def kind(self) -> int:
        return self.kind_word & ~ROUTE_TRANSPARENT

    @property
    def transparent(self) -> bool:
        return bool(self.kind_word & ROUTE_TRANSPARENT)


@dataclass(frozen=True)
class Event:
    sender: int
    route: Route


@dataclass(frozen=True)
class Timer:
    signal: int
    period: int


@dataclass(frozen=True)
class Pin:
    domain: int
    port: int
    mask: int
    own: int


@dataclass
class Tables:
    domains: list[Domain] = field(default_factory=list)
    threads: list[Thread] = field(default_factory=list)
    vcpus: list[Vcpu] = field(default_factory=list)
    routes: list[Route] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    timers: list[Timer] = field(default_factory=list)
    pins: list[Pin] = field(default_factory=list)
    constants: dict[str, int] = field(default_factory=dict)
    offsets: dict[str, int] = field(default_factory=dict)  # in fvm_state
    signals: int = 0
    cpu_hz: int = 0
    tick_hz: int = 0
    fault_signal: int = 0

    @property
    def tick_cycles(self) -> int:
        return self.cpu_hz // self.tick_hz


def read_tables(lines: list[str]) -> Tables:
    """What the driver answers to `tables`."""
    tables = Tables()
    for line in lines:
        subject, *words = line.split()
        if subject in ("offset", "constant"):
            named = tables.offsets if subject == "offset" else tables.constants
            named[words[0]] = int(words[1])
            continue
        n = [int(word) for word in words]
        if subject == "domain":
            tables.domains.append(Domain(*n))
        elif subject == "capability":
            tables.domains[n[0]].capabilities.append(Capability(*n[1:]))
        elif subject == "thread":
            tables.threads.append(Thread(*n))
        elif subject == "vcpu":
            tables.vcpus.append(Vcpu(*n))
        elif subject == "route":
            tables.routes.append(Route(*n))
        elif subject == "event":
            tables.events.append(Event(n[0], Route(n[1], n[2], n[3], NO_INDEX)))
        elif subject == "timer":
            tables.timers.append(Timer(*n))
        elif subject == "pin":
            tables.pins.append(Pin(*n))
        else:
            assert subject == "size", line
            tables.signals, tables.cpu_hz, tables.tick_hz, tables.fault_signal = n
    return tables
