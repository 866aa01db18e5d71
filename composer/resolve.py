"""From a description to a plan: numbers everything and places it."""

from __future__ import annotations

from pathlib import Path

from composer.chips.chip import Chip, load_board, load_chip
from composer.chips.family import family_of
from composer.description.check import check_lines, check_system, merged_clocks
from composer.description.model import Domain, System
from composer.description.three_sections import expand
from composer.layout.grants import device_grants
from composer.layout.place import place_system
from composer.layout.protection import Grant, unit_of
from composer.objects import (
    number_roots,
    object_capabilities,
    plan_memory,
    plan_ports,
    plan_slots,
    rights_of,
)
from composer.plan import (
    ALARMS_MAX,
    FAULT_SIGNAL,
    FAULTS,
    HYPERVISOR,
    HYPERVISOR_THREADS,
    INDICES_MAX,
    LOG_SIGNAL,
    LOG_THREAD,
    MANAGER_SIGNAL,
    MANAGER_THREAD,
    NODES_MAX,
    SIGNAL_FAULT,
    VIRT_FIRST,
    VIRT_SVC,
    VIRT_SWITCH,
    VIRT_TICK,
    VMS_MAX,
    Capability,
    DomainPlan,
    EventPlan,
    Plan,
    PortPlan,
    Signal,
    ThreadPlan,
    Vector,
    c_name,
)
from composer.sources import find_all_sources

_LOG_HZ = 1000  # the log thread runs so often, or each tick


def resolve(system: System, out: Path) -> Plan:
    """The plan of a description whose output goes to `out`; an FvmError if it breaks a rule."""
    chip = load_chip(system.chip, system.place)
    check_lines(system, chip)
    system = expand(system)
    board = load_board(system.board, system.place) if system.board else None
    check_system(system, chip, board)
    sources = find_all_sources(system, out.resolve())
    clocks = merged_clocks(system)
    unit = unit_of(chip.core)
    layout = place_system(system, chip, unit)
    signals = _signals(system, chip)
    events = _events(system, signals)
    _check_counts(system, signals)
    numbered = _Numbering(system, chip, signals, events)
    domains = []
    for index, domain in enumerate((None, *system.domains)):
        name = domain.name if domain else HYPERVISOR
        flash, ram = layout.flash_of[name], layout.ram_of[name]
        grants = [
            Grant("flash", "code", flash.base, flash.granted, "rx"),
            Grant("ram", "ram", ram.base, ram.granted, "rw"),
            *device_grants(system, chip, domain),
            *(
                Grant(s.name, "shared", s.place.base, s.place.granted, s.access[index])
                for s in layout.shared
                if index in s.access
            ),
        ]
        domains.append(
            DomainPlan(
                index,
                name,
                domain.kind if domain else "process",
                domain,
                sources[index - 1] if domain else None,
                flash,
                ram,
                domain.fpu if domain else False,
                numbered.threads(index),
                numbered.ports[index],
                *plan_slots(system, index),
                *plan_memory(system, index),
                numbered.capabilities(index),
                numbered.vectors(index),
                tuple(grants),
                numbered.vcpu(index),
            )
        )
    domains = number_roots(domains)
    plan = Plan(
        system,
        chip,
        board,
        unit,
        clocks,
        family_of(chip).frequencies(clocks, chip).cpu,
        tuple(domains),
        tuple(signals),
        tuple(events),
        layout.shared,
        layout.kernel_flash,
        layout.kernel_ram,
        layout.flash,
        layout.ram,
        layout.free_flash,
        layout.free_ram,
    )
    _check_nodes(plan)
    return plan


def _signals(system: System, chip: Chip) -> list[Signal]:
    """The hypervisor's, then timers, lines and events of each process."""
    # Its timer: to restart a domain later.
    retry = 0 if _delays(system) else None
    signals = [Signal(SIGNAL_FAULT, FAULT_SIGNAL, 0, period_ticks=retry)]
    if system.vms:
        signals.append(Signal(len(signals), MANAGER_SIGNAL, 0))
    if system.kernel.console:
        period = max(1, system.kernel.tick_hz // _LOG_HZ)
        signals.append(Signal(len(signals), LOG_SIGNAL, 0, period_ticks=period))
    for index, domain in enumerate(system.processes, start=1):
        if domain.process is None:
            continue
        for timer in domain.process.timers:
            period = timer.period_us * system.kernel.tick_hz // 1_000_000
            signals.append(Signal(len(signals), timer.name, index, period_ticks=period))
        for irq in domain.irqs:
            signals.append(Signal(len(signals), irq.name, index, irq=chip.interrupts[irq.name]))
        for event in system.events:
            if event.receiver == domain.name and event.at is None:
                signals.append(Signal(len(signals), event.name, index))
        if system.decided_by(domain):
            signals.append(Signal(len(signals), FAULTS, index))
    return signals


def _check_counts(system: System, signals: list[Signal]) -> None:
    """What the kernel has a bit or a byte for."""
    vms = [domain.vm for domain in system.domains if domain.vm]
    timers = sum(s.period_ticks is not None for s in signals)
    alarms = len(vms) * (2 if any(vm.watchdog_us for vm in vms) else 1) + timers
    for found, limit, what in (
        (len(vms), VMS_MAX, "VMs"),
        (alarms, ALARMS_MAX, "ticks and watchdogs of VMs and timers, with the system's own,"),
        (len(signals), INDICES_MAX, "signals, with the system's own,"),
        (len(system.events), INDICES_MAX, "events"),
    ):
        if found > limit:
            raise system.place.error(
                f"{found} {what} are too many", f"at most {limit} are possible"
            )


def _check_nodes(plan: Plan) -> None:
    """What may be delegated is in chains, whose links are bytes."""
    found = plan.roots + plan.slots
    if plan.slots and found > NODES_MAX:
        raise plan.system.place.error(
            f'{found} slots and capabilities with delegate="yes" are too many',
            f"at most {NODES_MAX} together are possible",
        )


def _delays(system: System) -> bool:
    return any(domain.fault.delays for domain in system.domains)


def _events(system: System, signals: list[Signal]) -> list[EventPlan]:
    """Events in description order; the virtual vectors of a VM's events follow its lines'."""
    names = [HYPERVISOR, *(d.name for d in system.domains)]
    received: dict[str, int] = {}
    events = []
    for number, event in enumerate(system.events):
        receiver = names.index(event.receiver)
        target: Domain = system.domains[receiver - 1]
        virt_id, signal = None, None
        if target.vm is not None and event.at is not None:
            virt_id = VIRT_FIRST + [i.name for i in target.irqs].index(event.at)
        elif target.vm is not None:
            virt_id = VIRT_FIRST + len(target.irqs) + received.get(target.name, 0)
            received[target.name] = received.get(target.name, 0) + 1
        else:
            arrives = (event.at or event.name, receiver)
            signal = next(s.index for s in signals if (s.name, s.domain) == arrives)
        sender = names.index(event.sender)
        events.append(
            EventPlan(number, event.name, sender, receiver, virt_id, signal, event.delegate)
        )
    return events


class _Numbering:
    """Threads, capabilities and vectors by domain index; index 0 is the hypervisor."""

    def __init__(
        self, system: System, chip: Chip, signals: list[Signal], events: list[EventPlan]
    ) -> None:
        self.system = system
        self.chip = chip
        self.signals = signals
        self.events = events
        self.names = [HYPERVISOR, *(d.name for d in system.domains)]
        self.first_vm = 1 + len(system.processes)
        self.ports = self._ports()

    def domain(self, index: int) -> Domain | None:
        return self.system.domains[index - 1] if index else None

    def vcpu(self, index: int) -> int | None:
        return index - self.first_vm if index >= self.first_vm else None

    def _slots(self, index: int) -> list[tuple[str, int, int, bool]]:
        """Function, priority and stack of each thread, and whether it waits to be started."""
        domain = self.domain(index)
        if domain is None:
            return [
                (name, priority, stack, False)
                for name, priority, stack in HYPERVISOR_THREADS
                if (name != MANAGER_THREAD or self.system.vms)
                and (name != LOG_THREAD or self.system.kernel.console)
            ]
        if domain.vm is not None:
            return [("", 0, domain.vm.vct_stack, False), ("", 0, domain.vm.usr_stack, False)]
        threads = domain.process.threads if domain.process else ()
        return [(t.name, t.priority, t.stack, t.held) for t in threads]

    def threads(self, index: int) -> tuple[ThreadPlan, ...]:
        first = sum(len(self._slots(i)) for i in range(index))
        return tuple(
            ThreadPlan(first + slot, slot, priority, function, stack, held)
            for slot, (function, priority, stack, held) in enumerate(self._slots(index))
        )

    def thread_of(self, process: str, name: str) -> int:
        """Index of a thread of a process."""
        threads = self.threads(self.names.index(process))
        return next(thread.index for thread in threads if thread.function == name)

    def _ports(self) -> list[tuple[PortPlan, ...]]:
        domains = range(len(self.names))
        threads = sum(len(self._slots(i)) for i in domains)
        return [plan_ports(self.system, i, threads) for i in domains]

    def capabilities(self, index: int) -> tuple[Capability, ...]:
        domain = self.domain(index)
        if domain is None:
            return self._hypervisor_capabilities()
        if domain.vm is not None:
            return ()
        waits = [
            Capability(c_name(s.name), "SIGNAL", ("WAIT",), s.index)
            for s in self.signals
            if s.domain == index
        ]
        sends = [
            Capability(c_name(e.name), "EVENT", rights_of(("SEND",), e.delegate), e.number)
            for e in self.events
            if e.sender == index
        ]
        return (
            *waits,
            *sends,
            *self._fault_capabilities(domain),
            *object_capabilities(self.system, index, self.ports, self.thread_of),
        )

    def _fault_capabilities(self, process: Domain) -> list[Capability]:
        """To read the log, and to decide about domains."""
        reads = [Capability("LOG", "LOG", ("READ",), 0)] if self.system.reads_log(process) else []
        decides = [
            Capability(
                f"DOMAIN_{c_name(d.name)}",
                "DOMAIN",
                ("CONTROL",),
                self.names.index(d.name),
                self.system.most_urgent(d),
            )
            for d in self.system.decided_by(process)
        ]
        return reads + decides

    def _hypervisor_capabilities(self) -> tuple[Capability, ...]:
        names = {FAULT_SIGNAL: "FAULT", MANAGER_SIGNAL: "MANAGER", LOG_SIGNAL: "LOG_TICK"}
        capabilities = [
            *(
                Capability(names[s.name], "SIGNAL", ("WAIT",), s.index)
                for s in self.signals
                if s.domain == 0
            ),
            Capability("LOG", "LOG", ("READ", "CONTROL"), 0),
        ]
        if _delays(self.system):
            capabilities.append(Capability("RETRY", "TIMER", ("CONTROL",), 0))
        if self.system.kernel.console:
            timers = [s.name for s in self.signals if s.period_ticks is not None]
            timer = timers.index(LOG_SIGNAL)
            capabilities.append(Capability("LOG_TIMER", "TIMER", ("CONTROL",), timer))
        for index, domain in enumerate(self.system.domains, start=1):
            name = f"DOMAIN_{c_name(domain.name)}"
            rights = ("CONTROL", "START") if domain.fault.process else ("CONTROL",)
            capabilities.append(Capability(name, "DOMAIN", rights, index))
        for index, vm in enumerate(self.system.vms):
            capabilities.append(Capability(f"VCPU_{c_name(vm.name)}", "VCPU", ("CONTROL",), index))
        return tuple(capabilities)

    def vectors(self, index: int) -> tuple[Vector, ...]:
        domain = self.domain(index)
        if domain is None or domain.vm is None:
            return ()
        vm = domain.vm
        vectors = [
            Vector(VIRT_SWITCH, "SWITCH", "switch", vm.switch),
            Vector(VIRT_TICK, "TICK", "tick", vm.tick),
            Vector(VIRT_SVC, "SVC", "svc", vm.svc),
        ]
        for irq in domain.irqs:
            line = self.chip.interrupts[irq.name]
            vectors.append(
                Vector(len(vectors), irq.name, "irq", irq.handler, irq.transparent, line, irq.split)
            )
        handlers = {e.name: e.handler for e in self.system.events if e.at is None}
        for event in self.events:
            if event.receiver == index and event.name in handlers:
                handler = handlers[event.name]
                number = event.number
                vectors.append(Vector(len(vectors), event.name, "event", handler, number=number))
        return tuple(vectors)
