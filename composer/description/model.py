"""A system description as frozen values. Sizes are bytes, times microseconds, rates hertz.

Nothing here is checked: `parse` guarantees the schema, `check` the rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scanner.report.errors import FvmError


def section_name(irq: str) -> str:
    """C name of a line's mid-section: a thread of its process, and the name of its file."""
    return f"{irq.lower()}_mid"


@dataclass(frozen=True)
class Place:
    """Where something stands in a file."""

    file: str
    line: int | None = None
    column: int | None = None

    def error(self, message: str, hint: str) -> FvmError:
        """An error at this place."""
        return FvmError(message, file=self.file, line=self.line, column=self.column, hint=hint)


@dataclass(frozen=True)
class Named:
    """A name and where it was written: a granted device, a clock, a user of a block."""

    name: str
    place: Place


@dataclass(frozen=True)
class Pin:
    """One pin's set-up. `runtime` pins may be set by the domain while it runs."""

    port: str
    number: int
    mode: str
    alternate: int | None
    pull: str
    speed: str
    output: str
    runtime: bool
    place: Place

    @property
    def name(self) -> str:
        """As chip data names it: `PA9`."""
        return f"P{self.port}{self.number}"


@dataclass(frozen=True)
class Pll:
    """Factors of the main PLL: it gives source / m * n / p, and / q to the 48 MHz domain."""

    m: int
    n: int
    p: int
    q: int


@dataclass(frozen=True)
class Clocks:
    """The clock tree: the core runs from the PLL, or from `source` itself where there is none.

    `source` is HSE or HSI, `hse` in hertz; the dividers are of the buses, `latency` in wait states.
    """

    source: str
    hse: int
    pll: Pll | None
    ahb: int
    apb1: int
    apb2: int
    latency: int
    place: Place

    def values(self) -> tuple[str | int | Pll | None, ...]:
        """Everything but the place, to compare two."""
        return (
            self.source, self.hse, self.pll, self.ahb, self.apb1, self.apb2, self.latency,
        )  # fmt: skip

    def root_hz(self, hsi: int) -> int:
        """What the AHB divider divides, where the internal oscillator has `hsi` hertz."""
        source = self.hse if self.source == "HSE" else hsi
        return source * self.pll.n // (self.pll.m * self.pll.p) if self.pll else source


@dataclass(frozen=True)
class Frame:
    """Records that the VM is woken for: those whose `register` holds one of `ends`."""

    register: str
    ends: tuple[int, ...]
    longest: int
    place: Place


@dataclass(frozen=True)
class Count:
    """Records that are counted: those whose `register` has one of `bits`."""

    name: str
    register: str
    bits: int
    place: Place


@dataclass(frozen=True)
class Split:
    """How an interrupt of a VM is served in three sections: stub, process, VM."""

    process: str
    device: str
    ring: int
    frame: Frame | None
    counts: tuple[Count, ...]
    policy: str | None
    place: Place


@dataclass(frozen=True)
class Irq:
    """An interrupt line that a domain gets. Processes get it as a signal and have no handler."""

    name: str
    handler: str | None
    transparent: bool
    split: Split | None
    place: Place


@dataclass(frozen=True)
class Replacement:
    """A project file that is not built; `by` is built instead."""

    file: str
    by: str
    place: Place


@dataclass(frozen=True)
class Project:
    """The sources of a domain. Paths are as written, relative to the description's folder.

    `builtin` names a process of the runtime; then there are no paths. `split` names the VM whose
    mid-sections the process runs; then `path` may be empty. `is_ported` is false for sources that
    are written for the guest API and need no porting. `preprocess`: whether files named .s go
    through the preprocessor, as those named .S do.
    """

    path: str
    ported: str | None
    is_ported: bool
    builtin: str | None
    split: str | None
    entry: str
    standard: str
    cflags: str
    cxx_standard: str
    cxxflags: str
    ldflags: str
    preprocess: bool
    sources: tuple[Named, ...]
    includes: tuple[Named, ...]
    defines: tuple[str, ...]
    startup: tuple[Named, ...]
    replacements: tuple[Replacement, ...]
    place: Place


@dataclass(frozen=True)
class VmPart:
    """What only a VM has. Handler names are final symbols; None: no such vector.

    A larger `priority` is more urgent.
    """

    priority: int
    tick_hz: int
    catchup: int
    watchdog_us: int
    usr_stack: int
    vct_stack: int
    switch: str | None
    tick: str | None
    svc: str | None
    writes_log: bool


@dataclass(frozen=True)
class Thread:
    """A thread of a process: a C function of that name."""

    name: str
    priority: int
    stack: int
    held: bool
    place: Place


@dataclass(frozen=True)
class Timer:
    """A periodic signal to a process."""

    name: str
    period_us: int
    place: Place


@dataclass(frozen=True)
class Port:
    """An entry that a process exports: a C function with a stack of its own."""

    name: str
    function: str
    stack: int
    delegate: bool
    place: Place


@dataclass(frozen=True)
class Invoke:
    """The right to invoke a port of another process, and maybe to pass it on at run time."""

    process: str
    port: str
    delegate: bool
    place: Place


@dataclass(frozen=True)
class KernelMemory:
    """Room for objects that a process makes at run time. `ceiling`: of its threads; 0: none."""

    size: int
    ceiling: int
    place: Place


@dataclass(frozen=True)
class Delegate:
    """The right to fill slots of another process: its first `slots`, None: all."""

    name: str
    slots: int | None
    place: Place


@dataclass(frozen=True)
class Control:
    """Rights over a thread of this process or, with `process`, of another one.

    `ceiling`: up to which it may set the priority; None: not at all.
    """

    thread: str
    process: str | None
    start: bool
    stop: bool
    ceiling: int | None
    place: Place


@dataclass(frozen=True)
class ProcessPart:
    """What only a process has."""

    threads: tuple[Thread, ...]
    timers: tuple[Timer, ...]
    reads_log: bool
    ports: tuple[Port, ...]
    invokes: tuple[Invoke, ...]
    functions: tuple[Named, ...]
    controls: tuple[Control, ...]
    slots: int
    delegates: tuple[Delegate, ...]
    memory: KernelMemory | None


@dataclass(frozen=True)
class FaultPolicy:
    """What becomes of a domain that faulted: `restart`, `stop`, or what `process` decides (`user`).

    Faults that follow the one before `within_us` form a row, of at most so many restarts (0: no
    limit); `starting`: that is for a VM of which no tick was served, and whose row is the first
    since the chip started. The second restart of a row is delayed, each further one twice as long;
    so is the moment at which the process is asked.
    """

    action: str
    process: str | None
    most: int
    starting: bool
    within_us: int
    delay_us: int
    longest_us: int
    place: Place

    @property
    def delays(self) -> bool:
        """Whether a restart is ever delayed."""
        return self.action != "stop" and min(self.delay_us, self.longest_us) > 0


@dataclass(frozen=True)
class Acknowledge:
    """A line of the project that stays as it is: a person answers for it."""

    rule: str
    file: str
    text: str
    reason: str
    place: Place


@dataclass(frozen=True)
class Domain:
    """A VM or a process: exactly one of `vm` and `process` is set.

    `borrowed` are devices of a VM whose registers a mid-section of this process uses too.
    """

    name: str
    flash: int
    ram: int
    heap: int
    fpu: bool
    strict: bool  # what only may be a silent instruction is refused, too
    project: Project
    devices: tuple[Named, ...]
    borrowed: tuple[Named, ...]
    irqs: tuple[Irq, ...]
    clock_names: tuple[Named, ...]
    clocks: tuple[Clocks, ...]
    pins: tuple[Pin, ...]
    fault: FaultPolicy
    acknowledged: tuple[Acknowledge, ...]
    vm: VmPart | None
    process: ProcessPart | None
    place: Place

    @property
    def kind(self) -> str:
        """`vm` or `process`."""
        return "vm" if self.vm is not None else "process"


@dataclass(frozen=True)
class Kernel:
    """Kernel and hypervisor settings. Without `console` nobody writes a log; `records`: of faults,
    that the kernel keeps."""

    tick_hz: int
    slice_us: int
    console: str | None
    baud: int
    report_us: int
    records: int
    protection: bool
    flash: int
    ram: int
    hypervisor_flash: int
    hypervisor_ram: int
    pins: tuple[Pin, ...]
    place: Place


@dataclass(frozen=True)
class SharedUser:
    """A domain that sees a shared block."""

    domain: str
    writes: bool
    place: Place


@dataclass(frozen=True)
class Shared:
    """A block of RAM that several domains see."""

    name: str
    size: int
    users: tuple[SharedUser, ...]
    place: Place


@dataclass(frozen=True)
class Event:
    """A signal from one domain to another.

    `at`: it arrives at the receiver's vector (VM) or signal (process) of that line, and has none of
    its own.
    """

    name: str
    sender: str
    receiver: str
    handler: str | None
    place: Place
    at: str | None = None
    delegate: bool = False


@dataclass(frozen=True)
class System:
    """One description. VMs are in the order of falling priority, equal ones as described."""

    file: Path
    name: str
    chip: str
    board: str | None
    optimize: str  # the compiler's -O
    waivers: Path | None  # findings of the scanner that a person answers for
    kernel: Kernel
    clocks: tuple[Clocks, ...]
    processes: tuple[Domain, ...]
    vms: tuple[Domain, ...]
    shared: tuple[Shared, ...]
    events: tuple[Event, ...]
    place: Place

    @property
    def folder(self) -> Path:
        """The folder that relative paths of the description start from."""
        return self.file.parent

    @property
    def domains(self) -> tuple[Domain, ...]:
        """Processes in description order, then VMs."""
        return self.processes + self.vms

    def most_urgent(self, domain: Domain) -> int:
        """The highest priority that a thread of a process has or may be given; 0 for a VM."""
        if domain.process is None:
            return 0
        ceilings = [control.ceiling or 0 for control in self._controls_of(domain)]
        if domain.process.memory is not None:
            ceilings.append(domain.process.memory.ceiling)
        return max(*(t.priority for t in domain.process.threads), *ceilings, 0)

    def can_be_lowered(self, process: Domain) -> bool:
        """Whether a thread of a process may get less priority than the description gives it.

        A ceiling has no floor: who may change a priority may choose 1.
        """
        memory = process.process.memory if process.process else None
        return (memory is not None and memory.ceiling != 0) or any(
            control.ceiling is not None for control in self._controls_of(process)
        )

    def _controls_of(self, domain: Domain) -> Iterator[Control]:
        """Rights over threads of a process, its own and those of others."""
        for other in self.processes:
            for control in other.process.controls if other.process else ():
                if (control.process or other.name) == domain.name:
                    yield control

    def decided_by(self, process: Domain) -> tuple[Domain, ...]:
        """The domains whose faults a process decides about."""
        return tuple(d for d in self.domains if d.fault.process == process.name)

    def reads_log(self, domain: Domain) -> bool:
        """Whether a domain may read the fault log: by its own wish, or to decide about faults."""
        wishes = domain.process is not None and domain.process.reads_log
        return wishes or bool(self.decided_by(domain))
