"""The system with every number given: indices, identifiers, places. What the emitters read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from composer.chips.chip import Board, Chip
from composer.description.model import Clocks, Domain, Split, System
from composer.layout.allocate import Placed, Range
from composer.layout.protection import Grant, ProtectionUnit
from composer.sources import Sources

# Names and limits of the runtime's own tables (fvm-runtime/kernel/tables.h, <fvm/state.h>).
VIRT_SWITCH, VIRT_TICK, VIRT_SVC, VIRT_FIRST = range(4)
VECTORS_MAX = 64
THREADS_MAX = 4
SLOTS_MAX, SLOTS_OF_ALL_MAX = 16, 64  # for run-time capabilities
PORTS_MAX = 16  # of the system: breaking off a chain of invocations takes as many steps
PRIORITY_MAX = 31
VM_PRIORITY_MAX = 255
DOMAINS_MAX = 32  # the hypervisor is one; the kernel has masks of domains and vCPUs
VMS_MAX = 28  # a mask of the scheduler has flags beside them
ALARMS_MAX = 32  # a tick and, if any VM has one, a watchdog a VM; timers: bits of a mask
INDICES_MAX = 255  # of signals, of events: a byte, and one value says none
NODES_MAX = 255  # of slots and capabilities that may be delegated: likewise
TICKS_MAX = 2**31 - 1  # the runtime counts in 32 bits and compares by signed difference
SVC_NUMBER = 0xF5
FUNCTIONS = ("reset", "restart", "ticks", "cycles")  # FVM_FUNCTION_* of <fvm/hypercall.h>

# The hypervisor's threads in header order: the manager only with VMs, the log only with a console.
HYPERVISOR = "hypervisor"
MANAGER_THREAD, LOG_THREAD = "hyp_manager_thread", "hyp_log_thread"
# Name, priority, stack: at least one and a half times what they use at -O1 to -O3. Priority 0 is
# the kernel's idle thread, below every VM. The manager is above the VMs, whose calls it decides on,
# and below every process: no interrupt of one waits for a VM's budget.
HYPERVISOR_THREADS = (
    ("hyp_fault_thread", 31, 256),
    (MANAGER_THREAD, 2, 256),
    (LOG_THREAD, 1, 384),
    ("hyp_idle_thread", 0, 192),
)
# Its signals; `fault` is the first, the others are there as their threads are.
SIGNAL_FAULT = 0
FAULT_SIGNAL, MANAGER_SIGNAL, LOG_SIGNAL = "fault", "manager", "log"
# The signal of a process that decides about faults of others.
FAULTS = "faults"


def c_name(name: str) -> str:
    """A description's name as part of a C macro: `to-sensor` -> `TO_SENSOR`."""
    return "".join(c if c.isalnum() else "_" for c in name.upper())


@dataclass(frozen=True)
class Capability:
    """An entry of a process's capability table; `name` completes FVM_CAP_<name>."""

    name: str
    type: str
    rights: tuple[str, ...]
    index: int
    limit: int = 0


@dataclass(frozen=True)
class Vector:
    """A virtual vector. kind: switch, tick, svc, irq, event; `number`: line or event."""

    virt_id: int
    name: str
    kind: str
    handler: str | None
    transparent: bool = False
    number: int | None = None
    split: Split | None = None


@dataclass(frozen=True)
class ThreadPlan:
    """A thread; `function` is what it runs ('' for a vCPU's)."""

    index: int
    slot: int
    priority: int
    function: str
    stack: int
    held: bool = False


@dataclass(frozen=True)
class PortPlan:
    """An exported entry. `index`: of all ports; `thread` and `slot`: of what runs in it."""

    index: int
    thread: int
    slot: int
    name: str
    function: str
    stack: int


@dataclass(frozen=True)
class Signal:
    """A kernel signal; `irq` is the line that sends it, if one does.

    `period_ticks` of the timer that sends it, if there is one; 0: only when it was set.
    """

    index: int
    name: str
    domain: int
    period_ticks: int | None = None
    irq: int | None = None


@dataclass(frozen=True)
class EventPlan:
    """An event with its number and its receiver: a vector of a VM or a signal of a process."""

    number: int
    name: str
    sender: int
    receiver: int
    virt_id: int | None
    signal: int | None
    delegate: bool = False


@dataclass(frozen=True)
class SharedPlan:
    """A placed shared block; `access` maps the index of a user to `rw` or `r`."""

    name: str
    place: Placed
    access: Mapping[int, str]


@dataclass(frozen=True)
class DomainPlan:
    """One domain. `source` and `sources` are None for the hypervisor."""

    index: int
    name: str
    kind: str
    source: Domain | None
    sources: Sources | None
    flash: Placed
    ram: Placed
    fpu: bool
    threads: tuple[ThreadPlan, ...]
    ports: tuple[PortPlan, ...]
    slot_first: int
    slots: int
    memory_first: int
    memory_words: int
    capabilities: tuple[Capability, ...]
    vectors: tuple[Vector, ...]
    grants: tuple[Grant, ...]
    vcpu: int | None

    @property
    def stacked(self) -> tuple[ThreadPlan | PortPlan, ...]:
        """All that has a stack, in the order of the stacks."""
        return (*self.threads, *self.ports)

    @property
    def vectors_used(self) -> int:
        """Number of virtual vectors, gaps included."""
        return max((v.virt_id for v in self.vectors), default=-1) + 1


@dataclass(frozen=True)
class Plan:
    """The whole system."""

    system: System
    chip: Chip
    board: Board | None
    unit: ProtectionUnit
    clocks: Clocks | None
    cpu_hz: int
    domains: tuple[DomainPlan, ...]
    signals: tuple[Signal, ...]
    events: tuple[EventPlan, ...]
    shared: tuple[SharedPlan, ...]
    kernel_flash: Placed
    kernel_ram: Placed
    flash: Range
    ram: Range
    free_flash: tuple[Range, ...]
    free_ram: tuple[Range, ...]

    @property
    def slots(self) -> int:
        """Slots for run-time capabilities, of all domains."""
        return sum(d.slots for d in self.domains)

    @property
    def roots(self) -> int:
        """Capabilities of the description that may be delegated."""
        return sum("DELEGATE" in c.rights for d in self.domains for c in d.capabilities)

    @property
    def memory_words(self) -> int:
        """Words of kernel memory, of all domains."""
        return sum(d.memory_words for d in self.domains)

    @property
    def vms(self) -> tuple[DomainPlan, ...]:
        """The VMs in vCPU order."""
        return tuple(d for d in self.domains if d.vcpu is not None)

    @property
    def writers(self) -> tuple[DomainPlan, ...]:
        """The VMs that write into the log, in the order of their numbers there."""
        return tuple(d for d in self.vms if d.source and d.source.vm and d.source.vm.writes_log)

    def ticks(self, microseconds: int) -> int:
        """A time in kernel ticks, rounded up."""
        return -(-microseconds * self.system.kernel.tick_hz // 1_000_000)

    @property
    def timers(self) -> tuple[Signal, ...]:
        """The signals that the kernel's timers send, in the order of the timers."""
        return tuple(s for s in self.signals if s.period_ticks is not None)

    @property
    def manager_signal(self) -> int:
        """What a VM's requests send; there is a VM."""
        own = self.signals_of(self.domains[0])
        return next(s.index for s in own if s.name == MANAGER_SIGNAL)

    def fault_signal(self, domain: DomainPlan) -> int | None:
        """The signal that a fault of a domain sends; None: it resets the chip."""
        if domain.source is None:
            return None
        decider = domain.source.fault.process
        if decider is None:
            return SIGNAL_FAULT
        index = next(d.index for d in self.domains if d.name == decider)
        return next(s.index for s in self.signals_of(self.domains[index]) if s.name == FAULTS)

    def signals_of(self, domain: DomainPlan) -> tuple[Signal, ...]:
        """The signals that `domain` waits for."""
        return tuple(s for s in self.signals if s.domain == domain.index)
