"""What the description says of memory, clocks, lines, signals and events, numbered.

The numbering rules are those of docs/runtime.md and kernel/tables.h: the hypervisor is domain 0,
then processes, then VMs, each in the order of the description.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from composer.chips.chip import Chip, Memory
from composer.description.model import Domain, ProcessPart, System, Thread
from composer.verify.tables import NO_INDEX, Timer

HYPERVISOR = "hypervisor"
FAULT = 0  # the first of the hypervisor's signals
MICROSECONDS = 1_000_000
_LOG_HZ = 1000  # how often the log thread looks for something to write, at most
_KERNEL_STEP = 32


@dataclass(frozen=True)
class Line:
    """An interrupt line of a process: its own, or one of a VM whose middle section it runs."""

    name: str
    number: int
    vm: str | None


@dataclass(frozen=True)
class Block:
    """A shared block: its size as described, and access by domain index."""

    name: str
    size: int
    access: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class EventPath:
    """An event; `at` names the line at whose vector or signal it arrives."""

    name: str
    sender: int
    receiver: int
    at: str | None
    delegate: bool = False


def by_priority(process: ProcessPart) -> list[Thread]:
    """Threads in the order of the tables."""
    return sorted(process.threads, key=lambda thread: -thread.priority)


class Described:
    """The whole system by index."""

    def __init__(self, system: System, chip: Chip) -> None:
        self.system = system
        self.chip = chip
        self.sources: tuple[Domain | None, ...] = (None, *system.processes, *system.vms)
        self.names = tuple(d.name if d else HYPERVISOR for d in self.sources)
        self.first_vm = 1 + len(system.processes)
        self.lines = {p.name: self._lines_of(p) for p in system.processes}
        self.all_events = self._all_events()
        self.signals, self.timers = self._signals()
        self.blocks = self._blocks()
        self.ports = {key: number for number, key in enumerate(self._exported())}

    # --- memory -------------------------------------------------------------------------

    def bank(self, kind: str) -> Memory:
        """The largest contiguous memory of a kind, where everything has its place."""
        best: Memory | None = None
        current: Memory | None = None
        for memory in sorted((m for m in self.chip.memory if m.kind == kind), key=lambda m: m.base):
            if current and current.base + current.size == memory.base:
                current = Memory(current.name, kind, current.base, current.size + memory.size)
            else:
                current = memory
            if best is None or current.size > best.size:
                best = current
        assert best is not None, f"{self.chip.name} has no {kind}"
        return best

    def kernel_area(self, kind: str) -> range:
        """The kernel's flash or RAM: the start of the bank."""
        kernel = self.system.kernel
        size = kernel.flash if kind == "flash" else kernel.ram
        base = self.bank(kind).base
        return range(base, base + -(-size // _KERNEL_STEP) * _KERNEL_STEP)

    # --- clocks -------------------------------------------------------------------------

    @property
    def cpu_hz(self) -> int:
        """What the clock tree of the description gives; a board with a fixed clock has none."""
        if self.chip.family == "mps2":
            return int(self.chip.clock_limits["cpu"])
        described = self.system.clocks or tuple(c for d in self.system.domains for c in d.clocks)
        hsi = int(self.chip.clock_limits["hsi"])
        if not described:
            return hsi
        clocks = described[0]
        rate = clocks.hse if clocks.source == "HSE" else hsi
        if clocks.pll is not None:
            rate = rate * clocks.pll.n // (clocks.pll.m * clocks.pll.p)
        return rate // clocks.ahb

    def ticks(self, microseconds: int) -> int:
        """A time in kernel ticks, rounded up."""
        return -(-microseconds * self.system.kernel.tick_hz // MICROSECONDS)

    # --- lines, signals, events ---------------------------------------------------------

    def _lines_of(self, process: Domain) -> tuple[Line, ...]:
        own = [Line(irq.name, self.chip.interrupts[irq.name], None) for irq in process.irqs]
        split = [
            Line(irq.name, self.chip.interrupts[irq.name], vm.name)
            for vm in self.system.vms
            for irq in vm.irqs
            if irq.split is not None and irq.split.process == process.name
        ]
        return (*own, *split)

    def _all_events(self) -> tuple[EventPath, ...]:
        """Those of the description, then three for each split interrupt."""

        def index(name: str) -> int:
            return self.names.index(name)

        events = [
            EventPath(e.name, index(e.sender), index(e.receiver), None, e.delegate)
            for e in self.system.events
        ]
        for vm in self.system.vms:
            for irq in vm.irqs:
                if irq.split is not None:
                    process, owner = index(irq.split.process), index(vm.name)
                    events += [
                        EventPath(f"{irq.name}_POST", process, owner, irq.name),
                        EventPath(f"{irq.name}_DONE", owner, process, None),
                        EventPath(f"{irq.name}_PEND", owner, process, irq.name),
                    ]
        return tuple(events)

    def _signals(self) -> tuple[dict[tuple[int, str], int], tuple[Timer, ...]]:
        """Signal numbers by receiver and name, and the timers that send some of them."""
        signals = {(0, "fault"): FAULT}
        timers = [Timer(FAULT, 0)] if self.delays else []
        if self.system.vms:
            signals[0, "manager"] = len(signals)
        if self.system.kernel.console:
            timers.append(Timer(len(signals), max(1, self.system.kernel.tick_hz // _LOG_HZ)))
            signals[0, "log"] = len(signals)
        for index, process in enumerate(self.system.processes, start=1):
            for timer in process.process.timers if process.process else ():
                timers.append(
                    Timer(
                        len(signals),
                        timer.period_us * self.system.kernel.tick_hz // MICROSECONDS,
                    )
                )
                signals[index, f"timer {timer.name}"] = len(signals)
            for line in self.lines[process.name]:
                signals[index, f"line {line.name}"] = len(signals)
            for event in self.all_events:
                if event.receiver == index and event.at is None:
                    signals[index, f"event {event.name}"] = len(signals)
            if self.decided(index):
                signals[index, "faults"] = len(signals)
        return signals, tuple(timers)

    @property
    def delays(self) -> bool:
        """Whether the hypervisor ever restarts a domain later than at once."""
        return any(domain.fault.delays for domain in self.system.domains)

    # --- faults -------------------------------------------------------------------------

    def decided(self, process: int) -> tuple[int, ...]:
        """The domains whose faults a process decides about."""
        name = self.names[process]
        return tuple(
            index
            for index, source in enumerate(self.sources)
            if source is not None and source.fault.process == name
        )

    def fault_signal(self, index: int) -> int:
        """What a fault of a domain sends."""
        source = self.sources[index]
        if source is None:
            return NO_INDEX  # it resets the chip: nobody else could decide about it
        if source.fault.process is None:
            return FAULT
        return self.signals[self.names.index(source.fault.process), "faults"]

    def _exported(self) -> Iterator[tuple[str, str]]:
        """Process and name of every port."""
        for process in self.system.processes:
            for port in process.process.ports if process.process else ():
                yield process.name, port.name

    def _threads_of(self, index: int) -> list[Thread]:
        source = self.sources[index]
        return by_priority(source.process) if source and source.process else []

    def is_held(self, index: int, slot: int) -> bool:
        """Whether a thread waits for somebody to start it."""
        threads = self._threads_of(index)
        return bool(threads) and threads[slot].held

    def thread_number(self, index: int, name: str) -> int:
        """Number of a process's thread, behind the hypervisor's and those of processes before."""
        before = sum(len(self._threads_of(i)) for i in range(index))
        names = [thread.name for thread in self._threads_of(index)]
        hypervisor = 2 + bool(self.system.vms) + bool(self.system.kernel.console)
        return hypervisor + before + names.index(name)

    def ports_of(self, index: int) -> tuple[int, ...]:
        """Numbers of the ports that a domain exports."""
        return tuple(n for (name, _), n in self.ports.items() if name == self.names[index])

    def _blocks(self) -> tuple[Block, ...]:
        blocks = [
            Block(
                s.name,
                s.size,
                tuple((self.names.index(u.domain), "rw" if u.writes else "r") for u in s.users),
            )
            for s in self.system.shared
        ]
        for vm in self.system.vms:
            for irq in vm.irqs:
                if irq.split is not None:
                    users = (irq.split.process, vm.name)
                    access = tuple((self.names.index(name), "rw") for name in users)
                    blocks.append(Block(f"{irq.name}_RING", irq.split.ring, access))
        return tuple(blocks)
