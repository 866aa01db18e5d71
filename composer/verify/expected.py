"""What the description implies for the kernel's tables, computed from it alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

from composer.chips.chip import Chip
from composer.description.model import Irq, System
from composer.verify.described import (
    HYPERVISOR,
    MICROSECONDS,
    Described,
    EventPath,
    by_priority,
)
from composer.verify.objects import DELEGATE, START, object_capabilities, with_roots
from composer.verify.tables import (
    NO_INDEX,
    Capability,
    PinGrant,
    Route,
    Thread,
    Vcpu,
)
from composer.verify.tables import Event as EventEntry

FAULT_THREAD, MANAGER_THREAD, LOG_THREAD, IDLE_THREAD = 31, 2, 1, 0  # priorities
HYPERVISOR_STACKS = {FAULT_THREAD: 256, MANAGER_THREAD: 256, LOG_THREAD: 384, IDLE_THREAD: 192}
FIRST_VIRTUAL = 3  # vectors 0 to 2: switch, tick, supervisor call

CAP_SIGNAL, CAP_VCPU, CAP_DOMAIN, CAP_LOG, CAP_EVENT, CAP_TIMER = range(1, 7)
WAIT, SEND, CONTROL, READ = 1, 2, 4, 8
THREAD_SLOTS = 4  # of a header; what follows are ports
TO_VCPU, TO_SIGNAL, TRANSPARENT = 1, 2, 0x80
BSRR = 0x18


@dataclass(frozen=True)
class ExpectedDomain:
    """One domain."""

    name: str
    flash: int
    ram: int
    fpu: bool
    strict: bool
    vm: bool
    devices: tuple[str, ...]
    priorities: tuple[int, ...]
    stacks: tuple[int, ...]  # of threads, then of ports
    ports: int
    capabilities: tuple[Capability, ...]
    vectors: int


class Expected(Described):
    """The whole system by index, as the tables should have it."""

    def __init__(self, system: System, chip: Chip) -> None:
        super().__init__(system, chip)
        domains = [self._domain(i) for i in range(len(self.sources))]
        tables = with_roots(domain.capabilities for domain in domains)
        self.domains = tuple(
            replace(domain, capabilities=capabilities)
            for domain, capabilities in zip(domains, tables, strict=True)
        )

    def irq_vectors(self, index: int) -> dict[str, int]:
        """Virtual vectors of a VM's lines."""
        source = self.sources[index]
        irqs: tuple[Irq, ...] = source.irqs if source else ()
        return {irq.name: FIRST_VIRTUAL + n for n, irq in enumerate(irqs)}

    def event_vectors(self, index: int) -> dict[str, int]:
        """Virtual vectors of a VM's events that have one of their own."""
        first = FIRST_VIRTUAL + len(self.irq_vectors(index))
        own = [e for e in self.all_events if e.receiver == index and e.at is None]
        return {event.name: first + n for n, event in enumerate(own)}

    def routes(self) -> dict[int, Route]:
        """Line -> route; all others go nowhere."""
        routes: dict[int, Route] = {}
        for vcpu, vm in enumerate(self.system.vms):
            vectors = self.irq_vectors(self.first_vm + vcpu)
            for irq in vm.irqs:
                if irq.split is None:
                    kind = TO_VCPU | (TRANSPARENT if irq.transparent else 0)
                    line = self.chip.interrupts[irq.name]
                    routes[line] = Route(kind, vcpu, vectors[irq.name], NO_INDEX)
        for index, process in enumerate(self.system.processes, start=1):
            for entry in self.lines[process.name]:
                virt_id, bottom = 0, NO_INDEX
                if entry.vm is not None:
                    owner = self.names.index(entry.vm)
                    virt_id, bottom = self.irq_vectors(owner)[entry.name], owner - self.first_vm
                signal = self.signals[index, f"line {entry.name}"]
                routes[entry.number] = Route(TO_SIGNAL, signal, virt_id, bottom)
        return routes

    def events(self) -> tuple[EventEntry, ...]:
        """The event table."""
        return tuple(EventEntry(e.sender, self._event_route(e)) for e in self.all_events)

    def _event_route(self, event: EventPath) -> Route:
        if event.receiver >= self.first_vm:
            vectors = self.irq_vectors(event.receiver) | self.event_vectors(event.receiver)
            virt_id = vectors[event.at or event.name]
            return Route(TO_VCPU, event.receiver - self.first_vm, virt_id, NO_INDEX)
        key = f"line {event.at}" if event.at else f"event {event.name}"
        return Route(TO_SIGNAL, self.signals[event.receiver, key], 0, NO_INDEX)

    # --- threads, vCPUs, capabilities, pins -----------------------------------------------

    def threads(self) -> tuple[Thread, ...]:
        """The thread table: threads, then what runs in ports."""
        threads = tuple(
            Thread(index, slot, priority, int(self.is_held(index, slot)))
            for index, domain in enumerate(self.domains)
            for slot, priority in enumerate(domain.priorities)
        )
        ports = tuple(
            Thread(index, THREAD_SLOTS + port, 0)
            for index, domain in enumerate(self.domains)
            for port in range(domain.ports)
        )
        return (*threads, *ports)

    def first_thread(self, index: int) -> int:
        """Index of a domain's first thread."""
        return sum(len(domain.priorities) for domain in self.domains[:index])

    def vcpus(self) -> tuple[Vcpu, ...]:
        """The vCPU table."""
        found = []
        writers = [d.name for d in self.system.vms if d.vm is not None and d.vm.writes_log]
        for index in range(self.first_vm, len(self.domains)):
            source = self.sources[index]
            assert source is not None and source.vm is not None
            first = self.first_thread(index)
            found.append(
                Vcpu(
                    domain=index,
                    vct=first,
                    usr=first + 1,
                    vectors=self.domains[index].vectors,
                    request_signal=self.signals[0, "manager"],
                    budget_signal=self.signals[0, "manager"],
                    catchup=source.vm.catchup,
                    budget=self.system.kernel.slice_us * self.cpu_hz // MICROSECONDS,
                    watchdog=self.ticks(source.vm.watchdog_us),
                    peers=self._peers(source.vm.priority),
                    priority=source.vm.priority,
                    text=writers.index(source.name) + 1 if source.vm.writes_log else 0,
                )
            )
        return tuple(found)

    def held_lines(self) -> set[int]:
        """Lines of VMs that are less urgent than another one."""
        most = max((vm.vm.priority for vm in self.system.vms if vm.vm), default=0)
        return {
            self.chip.interrupts[irq.name]
            for vm in self.system.vms
            if vm.vm and vm.vm.priority < most
            for irq in vm.irqs
            if irq.split is None
        }

    def _peers(self, priority: int) -> int:
        """Mask of the vCPUs of a priority."""
        return sum(
            1 << vcpu
            for vcpu, vm in enumerate(self.system.vms)
            if vm.vm is not None and vm.vm.priority == priority
        )

    def pins(self) -> tuple[PinGrant, ...]:
        """The pins that domains may set and read while they run, by port."""
        found = []
        for index, source in enumerate(self.sources):
            pins = source.pins if source else ()
            for port in sorted({pin.port for pin in pins}):
                here = [pin for pin in pins if pin.port == port]
                mask = sum(1 << pin.number for pin in here if pin.runtime)
                own = sum(1 << pin.number for pin in here)
                address = self.chip.devices[f"GPIO{port}"].base + BSRR
                found.append(PinGrant(index, ord(port) - ord("A"), mask, own, address))
        return tuple(found)

    def _domain(self, index: int) -> ExpectedDomain:
        source, kernel = self.sources[index], self.system.kernel
        if source is None:
            return ExpectedDomain(
                HYPERVISOR,
                kernel.hypervisor_flash,
                kernel.hypervisor_ram,
                False,
                False,
                False,
                (kernel.console,) if kernel.console else (),
                self._hypervisor_threads(),
                tuple(HYPERVISOR_STACKS[thread] for thread in self._hypervisor_threads()),
                0,
                self._hypervisor_capabilities(),
                0,
            )
        devices = {device.name for device in source.devices}
        vm, process = source.vm, source.process
        if process is not None:
            devices |= {
                irq.split.device
                for owner in self.system.vms
                for irq in owner.irqs
                if irq.split is not None and irq.split.process == source.name
            }
            threads = by_priority(process)
            priorities = tuple(t.priority for t in threads)
            stacks = (*(t.stack for t in threads), *(p.stack for p in process.ports))
        else:
            assert vm is not None
            priorities, stacks = (0, 0), (vm.vct_stack, vm.usr_stack)
        vectors = FIRST_VIRTUAL + len(self.irq_vectors(index)) + len(self.event_vectors(index))
        return ExpectedDomain(
            source.name,
            source.flash,
            source.ram,
            source.fpu,
            source.strict,
            vm is not None,
            tuple(sorted(devices)),
            priorities,
            stacks,
            len(process.ports) if process else 0,
            self._process_capabilities(index) if process else (),
            vectors if vm else 0,
        )

    def _most_urgent(self, index: int) -> int:
        """What a thread has to outrank that stops or starts the domain."""
        source = self.sources[index]
        return 0 if source is None else self.system.most_urgent(source)

    def domain_rights(self, index: int) -> int:
        """The hypervisor's to a domain: it says when a process that decides is asked."""
        source = self.sources[index]
        return CONTROL | START * (source is not None and source.fault.process is not None)

    def _hypervisor_threads(self) -> tuple[int, ...]:
        """Priorities: VMs take a manager, a console a log."""
        return (
            FAULT_THREAD,
            *([MANAGER_THREAD] if self.system.vms else []),
            *([LOG_THREAD] if self.system.kernel.console else []),
            IDLE_THREAD,
        )

    def _hypervisor_capabilities(self) -> tuple[Capability, ...]:
        return (
            *(
                Capability(CAP_SIGNAL, WAIT, signal)
                for (receiver, _), signal in self.signals.items()
                if receiver == 0
            ),
            Capability(CAP_LOG, READ | CONTROL, 0),
            *(Capability(CAP_TIMER, CONTROL, index) for index in range(self._hypervisor_timers())),
            *(
                Capability(CAP_DOMAIN, self.domain_rights(index), index)
                for index in range(1, len(self.names))
            ),
            *(Capability(CAP_VCPU, CONTROL, i) for i in range(len(self.system.vms))),
        )

    def _hypervisor_timers(self) -> int:
        """The first timers: of restarts that are delayed, and of the log."""
        return int(self.delays) + int(self.system.kernel.console is not None)

    def _process_capabilities(self, index: int) -> tuple[Capability, ...]:
        waits = [
            Capability(CAP_SIGNAL, WAIT, signal)
            for (receiver, _), signal in self.signals.items()
            if receiver == index
        ]
        sends = [
            Capability(CAP_EVENT, SEND | DELEGATE * event.delegate, number)
            for number, event in enumerate(self.all_events)
            if event.sender == index
        ]
        source, decided = self.sources[index], self.decided(index)
        assert source is not None and source.process is not None
        reads = [Capability(CAP_LOG, READ, 0)] if source.process.reads_log or decided else []
        decides = [
            Capability(CAP_DOMAIN, CONTROL, domain, self._most_urgent(domain)) for domain in decided
        ]
        return (*waits, *sends, *reads, *decides, *object_capabilities(self, index))
