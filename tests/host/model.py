"""What the kernel promises, as a second opinion: written from docs/runtime.md and the headers.

It knows threads, signals, virtual vectors, lines, events, requests, the steps of a restart and the
log. It doesn't know which of several VMs with budget left runs: there it says which choices are
right (`may_run`), and it takes from the kernel when the hypervisor is asked for a budget.

Results that a thread will find are kept in `frame`; None is a word that nobody promised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.host.calls import CALL, ERROR
from tests.host.driver import Seen
from tests.host.tables import NO_INDEX, ROUTE_SIGNAL, ROUTE_VCPU, Tables

STOPPED, READY, WAITING = 0, 1, 2
TICK = 1
GROUP = 8  # vectors of one summary byte
LOG_RECORDS = 4
LAST_DECISION = 2
TEXT_ROOM, TEXT_PIECE = 256, 4  # characters
FRAME = 32
WORD = 0xFFFFFFFF

# fault causes that the model raises by itself
STACKING, WATCHDOG, RESET = 4, 5, 6

RUNNING, STOPPING, HALTED, STARTING = range(4)  # phases of a domain
FAULT_STEPS = 14
MORE = 1
CLEARING_STEPS = 4
STATE_BYTES, PENDING_GROUP, PENDING = 224, 136, 144  # size and offsets: <fvm/state.h>

BUDGET = 0xFF  # in place of a call's number: the vCPU is due for a budget

Words = list[int | None]


class ChipReset(Exception):
    """The kernel has to reset the chip here."""


@dataclass
class ThreadModel:
    state: int = READY
    waits: str = ""  # "signal", "vector", "request"
    signal: int = NO_INDEX
    frame: Words = field(default_factory=lambda: [0, 0, 0, 0])
    wild: bool = False  # its stack pointer was moved: nothing is promised of its frame


@dataclass
class SignalModel:
    count: int = 0
    delivered: int = 0
    waiter: int | None = None


@dataclass
class VcpuModel:
    open: bool = False
    locked: bool = False
    wake: bool = False
    latch: bool = False
    lines: dict[int, int] = field(default_factory=dict)  # virt_id -> physical line
    period: int = 0
    due: int = 0  # kernel tick of the next virtual tick
    owed: int = 0
    served: int = 0
    dropped: int = 0
    bites: int | None = None  # kernel tick at which the watchdog bites
    # fvm_state, as kernel and guest wrote it
    int_ena: int = 0
    pri: int = 0
    base: int = 0
    pend_vector: int = 0
    pend_yield: int = 0
    groups: set[int] = field(default_factory=set)
    pending: set[int] = field(default_factory=set)


@dataclass
class Record:
    tick: int
    domain: int
    thread: int
    cause: int
    restarts: int
    serial: int
    status: int = 0
    address: int | None = None
    decision: int = 0
    delay: int = 0
    is_explained: bool = False  # by the step behind the one that makes it


@dataclass
class DomainModel:
    phase: int = RUNNING
    part: int = 0
    step: int = 0
    fault: Record | None = None  # to be recorded


@dataclass
class TextModel:
    queue: list[int] = field(default_factory=list)
    lost: int = 0


def later(one: int, other: int) -> bool:
    """Of two serials of 31 bits."""
    return 0 < (one - other) % 2**31 < 2**30


class Model:
    """The state after power-on; methods named after what happens change it."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
        self.c = tables.constants
        self.threads = [ThreadModel() for _ in tables.threads]
        self.signals = [SignalModel() for _ in range(tables.signals)]
        self.vcpus = [VcpuModel() for _ in tables.vcpus]
        self.restarts = [0] * len(tables.domains)
        self.stopped: set[int] = set()
        self.enabled: set[int] = set()  # lines, by their guest
        self.closed: set[int] = set()  # lines, by the stub
        self.awaited: set[int] = set()  # lines of processes that are open
        self.raised: set[int] = set()  # pending in the NVIC
        self.may_send: set[int] = set()
        self.bound: set[int] = set()
        self.texts = [TextModel() for vcpu in tables.vcpus if vcpu.text]
        self.domains = [DomainModel() for _ in tables.domains]
        self.server: int | None = None  # thread that waits for a request
        self.asking: tuple[int, int, int, int] | None = None  # vCPU and its call, to be decided on
        self.log: list[Record | None] = [None] * LOG_RECORDS
        self.newest: dict[int, int] = {}  # domain -> serial of its last fault
        self.kept = self.lost = 0
        self.serial = 0
        self.ticks = 0
        self.timers = [timer.period or None for timer in tables.timers]  # tick; None: not set
        self.line_of_signal = {
            route.target: line
            for line, route in enumerate(tables.routes)
            if route.kind == ROUTE_SIGNAL
        }
        self.now = 0

    # --- threads ---------------------------------------------------------------------------

    def vcpu_of(self, thread: int) -> int | None:
        vcpu = self.tables.domains[self.tables.threads[thread].domain].vcpu
        return None if vcpu == NO_INDEX else vcpu

    def is_usr(self, thread: int) -> bool:
        vcpu = self.vcpu_of(thread)
        return vcpu is not None and self.tables.vcpus[vcpu].usr == thread

    def is_vct(self, thread: int) -> bool:
        vcpu = self.vcpu_of(thread)
        return vcpu is not None and self.tables.vcpus[vcpu].vct == thread

    def _ready(self, thread: int) -> None:
        self.threads[thread].state = READY
        self.threads[thread].waits = ""

    def _block(self, thread: int, why: str) -> None:
        self.threads[thread].state = WAITING
        self.threads[thread].waits = why

    # --- signals ---------------------------------------------------------------------------

    def send(self, index: int) -> None:
        signal = self.signals[index]
        if signal.waiter is None:
            signal.count = min(signal.count + 1, WORD)
            return
        self._ready(signal.waiter)  # its wait returns 1
        signal.waiter = None
        signal.delivered += 1

    def _wait(self, thread: int, index: int) -> int:
        signal = self.signals[index]
        if signal.count:
            count = signal.count
            signal.count = 0
            signal.delivered += count
            return min(count, 0x7FFFFFFF)
        if signal.waiter is not None:
            return ERROR["BUSY"]
        if index in self.line_of_signal:
            line = self.line_of_signal[index]
            self.raised.discard(line)
            self.awaited.add(line)
        signal.waiter = thread
        self.threads[thread].signal = index
        self._block(thread, "signal")
        return 1

    # --- virtual vectors ---------------------------------------------------------------------

    def _wake(self, index: int) -> None:
        vct = self.tables.vcpus[index].vct
        if self.threads[vct].state == WAITING:
            self._ready(vct)
        else:
            self.vcpus[index].wake = True

    def pend(self, index: int, virt_id: int, transparent: bool) -> None:
        vcpu, config = self.vcpus[index], self.tables.vcpus[index]
        vcpu.pending.add(virt_id)
        vcpu.groups.add(virt_id // GROUP)
        if self.threads[config.usr].waits == "vector":
            self._ready(config.usr)
        else:
            vcpu.latch = True
        if not vcpu.open:
            return
        if vcpu.pri or (vcpu.base and not transparent):
            vcpu.pend_vector = 1
        else:
            self._wake(index)

    def _done(self, index: int, virt_id: int) -> int:
        vcpu = self.vcpus[index]
        if virt_id == TICK and vcpu.owed:
            vcpu.served += 1
            vcpu.owed -= 1
            if vcpu.owed:
                self.pend(index, TICK, False)
            return 0
        if virt_id not in vcpu.lines:
            return ERROR["ARGUMENT"]
        self.closed.discard(vcpu.lines[virt_id])
        self.raised.discard(vcpu.lines[virt_id])
        return 0

    # --- lines -------------------------------------------------------------------------------

    def open_lines(self) -> set[int]:
        """A line is open exactly when its guest enabled it and no stub closed it."""
        return (self.enabled - self.closed) | self.awaited

    def raise_line(self, line: int) -> None:
        self.raised.add(line)
        self.take_lines()

    def take_lines(self) -> None:
        """The stubs of all lines that are open and pending."""
        while ready := self.raised & self.open_lines():
            line = min(ready)
            route = self.tables.routes[line]
            self.raised.discard(line)
            if route.kind == ROUTE_VCPU:
                self.closed.add(line)
                self.pend(route.target, route.virt_id, route.transparent)
            else:
                self.awaited.discard(line)
                self.send(route.target)

    # --- events ------------------------------------------------------------------------------

    def _deliver(self, event: int) -> int:
        route = self.tables.events[event].route
        if route.kind == ROUTE_SIGNAL:
            self.send(route.target)
            return 0
        if event not in self.bound:
            return ERROR["BUSY"]
        self.pend(route.target, route.virt_id, route.transparent)
        return 0

    # --- faults and restarts -------------------------------------------------------------------

    def fault(self, thread: int, cause: int, status: int = 0, address: int | None = None) -> None:
        where = self.tables.threads[thread]
        if self.tables.domains[where.domain].fault_signal == NO_INDEX:
            raise ChipReset
        noted = self.domains[where.domain].fault
        restarts = self.restarts[where.domain] + 1
        self._begin_stop(where.domain)
        self.domains[where.domain].fault = noted or Record(
            0, where.domain, where.slot, cause, restarts, 0, status, address
        )
        vcpu = self.vcpu_of(thread)
        if vcpu is None:
            self.threads[thread].state = STOPPED
        else:
            self._halt(vcpu)
        self.send(self.tables.fault_signal)

    def _record(self, domain: int) -> None:
        fault = self.domains[domain].fault
        if fault is None:
            return
        if self.kept == LOG_RECORDS:
            self.lost += 1
            self.serial += LOG_RECORDS  # in the same place
        else:
            self.kept += 1
            self.serial += 1
        fault.tick, fault.serial = self.ticks, self.serial
        self.log[self.serial % LOG_RECORDS] = fault
        self.newest[domain] = self.serial

    def _next_serial(self) -> int:
        return self.serial if self.kept == LOG_RECORDS else self.serial + 1

    def _begin_stop(self, domain: int) -> None:
        self.domains[domain] = DomainModel(STOPPING)
        self.stopped.add(domain)

    def _halt(self, index: int) -> None:
        config, vcpu = self.tables.vcpus[index], self.vcpus[index]
        for thread in (config.vct, config.usr):
            self.threads[thread].state = STOPPED
            self.threads[thread].waits = ""
        vcpu.open = vcpu.latch = False
        vcpu.bites = None
        if self.asking is not None and self.vcpus[self.asking[0]] is vcpu:
            self.asking = None
        vcpu.owed = vcpu.period = 0

    def _stop_parts(self, index: int) -> list[tuple[str, Sequence[int]]]:
        """Here without what processes make at run time: ports and slots are parts of no steps."""
        domain = self.tables.domains[index]
        vectors = 0 if domain.vcpu == NO_INDEX else self.tables.vcpus[domain.vcpu].vectors
        return [
            ("record", range(FAULT_STEPS)),
            ("port", ()),
            ("thread", domain.threads),
            ("slot", ()),
            ("vector", range(vectors)),
            ("capability", range(len(domain.capabilities))),
            ("event", range(len(self.tables.events))),
        ]

    def _stop_step(self, index: int, kind: str, number: int) -> bool:
        """True: the same step once more."""
        domain = self.tables.domains[index]
        if kind == "record":
            fault = self.domains[index].fault
            place = self._next_serial() % LOG_RECORDS
            if number == 0 and fault is not None and self.log[place] is not None:
                self.log[place] = None
                return True
            if number == 0:
                self._record(index)
            if number == 2 and fault is not None:
                fault.is_explained = True
            if number == FAULT_STEPS - 1:
                self.domains[index].fault = None
        elif kind == "thread":
            thread = self.threads[number]
            if self.server == number:
                self.server = None
            if thread.waits == "signal":
                self.signals[thread.signal].waiter = None
            waited, thread.waits = thread.waits != "", ""
            thread.state = STOPPED
            return waited
        elif kind == "vector":
            line = self.vcpus[domain.vcpu].lines.pop(number, None)
            for lines in (self.enabled, self.closed, self.raised):
                lines.discard(line)
        elif kind == "capability":
            self._drop_capability(index, number)
        elif kind == "event":
            config = self.tables.events[number]
            if config.sender == index:
                self.may_send.discard(number)
            if config.route.kind == ROUTE_VCPU and config.route.target == domain.vcpu:
                self.bound.discard(number)
        return False

    def _drop_capability(self, index: int, number: int) -> None:
        capability = self.tables.domains[index].capabilities[number]
        if capability.type == self.c["CAP_SIGNAL"] and capability.rights & self.c["RIGHT_WAIT"]:
            self._drop_signal(capability.index)

    def _drop_signal(self, index: int) -> None:
        self.signals[index].count = 0
        line = self.line_of_signal.get(index)
        self.awaited.discard(line)
        self.raised.discard(line)

    def stop(self, index: int, tells: bool = True) -> int:
        """A step of it; a restart goes on behind it and `tells` nobody."""
        domain = self.domains[index]
        if domain.phase == HALTED:
            return 0
        if domain.phase != STOPPING:
            self._begin_stop(index)
            if self.tables.domains[index].vcpu != NO_INDEX:
                self._halt(self.tables.domains[index].vcpu)
            return MORE
        parts = self._stop_parts(index)
        kind, steps = parts[domain.part]
        if domain.step < len(steps):
            if not self._stop_step(index, kind, steps[domain.step]):
                domain.step += 1
            return MORE
        if domain.part + 1 < len(parts):
            domain.part, domain.step = domain.part + 1, 0
            return MORE
        domain.phase = HALTED
        told = self.tables.domains[index].fault_signal
        if tells and told != self.tables.fault_signal:
            self.send(told)
        return 0

    def _clear(self, index: int, step: int) -> None:
        """A part of fvm_state; what isn't pending is in the first."""
        old = self.vcpus[index]
        if step == 0:
            old = self.vcpus[index] = VcpuModel(
                lines=old.lines,
                served=old.served,
                dropped=old.dropped,
                groups=old.groups,
                pending=old.pending,
            )
        cleared = (step + 1) * STATE_BYTES // CLEARING_STEPS
        old.groups = {group for group in old.groups if PENDING_GROUP + group >= cleared}
        old.pending = {vector for vector in old.pending if PENDING + vector >= cleared}

    def restart(self, index: int) -> int:
        """A step of it."""
        state = self.domains[index]
        if state.phase == HALTED:
            self.domains[index] = DomainModel(STARTING)
            return MORE
        if state.phase != STARTING:
            self.stop(index, tells=False)
            return MORE
        domain = self.tables.domains[index]
        threads, clears = domain.thread_count, 0 if domain.vcpu == NO_INDEX else CLEARING_STEPS
        parts = [
            ("check the image", threads),
            ("ports", 0),
            ("vcpu", clears),
            ("prepare the threads", threads),
            ("capabilities", len(domain.capabilities)),
            ("threads", threads),
        ]
        (kind, steps), step = parts[state.part], state.step
        if step == steps:
            state.part, state.step = state.part + 1, 0
            return MORE
        state.step += 1
        if kind == "capabilities":
            self._drop_capability(index, step)
        elif kind == "vcpu":
            self._clear(domain.vcpu, step)
        if kind != "threads":
            return MORE
        self.threads[domain.thread_first + step] = ThreadModel()
        if step + 1 < threads:
            return MORE
        self.domains[index] = DomainModel()
        self.stopped.discard(index)
        self.restarts[index] += 1
        return 0

    # --- time ----------------------------------------------------------------------------------

    def spend(self, cycles: int, nested: int | None = None, at: int = 0) -> None:
        """Time passes. `nested` is a line that arrives right before the deferred work of a tick,
        `at` that tick as the kernel says: it may have work with an alarm that was put off."""
        ticks = (self.now + cycles) // self.tables.tick_cycles - self.now // self.tables.tick_cycles
        self.now += cycles
        for _ in range(ticks):
            self.ticks += 1
            alarms = self._alarms()
            self.take_lines()
            if nested is not None and (at == self.ticks or (alarms and at == 0)):
                self.raise_line(nested)
                nested = None
            for ring, index in alarms:
                ring(index)
                self.take_lines()

    def _alarms(self) -> list[tuple[Callable[[int], None], int]]:
        """What is due at this tick, in the order of service."""
        due: list[tuple[Callable[[int], None], int]] = []
        for index, vcpu in enumerate(self.vcpus):
            if vcpu.bites == self.ticks:
                due.append((self._ring_watchdog, index))
        for index, vcpu in enumerate(self.vcpus):
            if vcpu.period and vcpu.due == self.ticks:
                due.append((self._ring_tick, index))
        for index, tick in enumerate(self.timers):
            if tick == self.ticks:
                due.append((self._ring_timer, index))
        return due

    def _ring_tick(self, index: int) -> None:
        vcpu = self.vcpus[index]
        if vcpu.period == 0:
            return  # its watchdog bit at the same tick
        vcpu.due += vcpu.period
        if vcpu.owed == 0:
            vcpu.owed = 1
            self.pend(index, TICK, False)
        elif vcpu.owed < self.tables.vcpus[index].catchup:
            vcpu.owed += 1
        else:
            vcpu.dropped += 1

    def _ring_watchdog(self, index: int) -> None:
        config = self.tables.vcpus[index]
        vct_runs = self.threads[config.vct].state == READY
        self.fault(config.vct if vct_runs else config.usr, WATCHDOG)

    def _ring_timer(self, index: int) -> None:
        timer = self.tables.timers[index]
        self.timers[index] = self.ticks + timer.period if timer.period else None
        self.send(timer.signal)

    # --- system calls ----------------------------------------------------------------------------

    def holds(self, thread: int, address: int, size: int) -> bool:
        domain = self.tables.domains[self.tables.threads[thread].domain]
        end = domain.ram + domain.ram_size
        return address % 4 == 0 and domain.ram <= address and address + size <= end

    def call(self, thread: int, stack: int, number: int, a: list[int]) -> None:
        if not self.holds(thread, stack, FRAME):
            self.fault(thread, STACKING, 0, stack)
            return
        frame: Words = [a[0], a[1], a[2], a[3]]
        self.threads[thread].frame = frame
        if self.vcpu_of(thread) is None:
            result = self._process_call(thread, number, a, frame)
        else:
            result = self._vm_call(thread, number, a, frame)
        if result is not None and self.threads[thread].frame is frame:
            frame[0] = result

    def _vm_call(self, thread: int, number: int, a: list[int], frame: Words) -> int | None:
        index = self.vcpu_of(thread)
        assert index is not None
        vcpu, config = self.vcpus[index], self.tables.vcpus[index]
        usr = thread == config.usr
        if number == CALL["VCT_WAIT"]:
            if not usr:
                self._done(index, a[0])
            reason = "latch" if usr else "wake"
            if getattr(vcpu, reason):
                setattr(vcpu, reason, False)
            else:
                self._block(thread, "vector")
            return 0
        if number == CALL["RESUME"] and usr:
            self.threads[thread].wild = True
            vcpu.pri = 0
            if (vcpu.pend_vector or vcpu.pend_yield) and vcpu.open:
                self._wake(index)
            return None
        if usr and CALL["HYPERVISOR"] <= number < CALL["HYPERVISOR_END"]:
            if vcpu.locked:
                return ERROR["LOCKED"]
            refused = self._refused(index, number, a[0], a[1])
            if refused or self.server is None:
                return refused or ERROR["BUSY"]
            self.asking = (index, number, a[0], a[1])
            self.threads[self.server].frame[:] = self.asking
            self._ready(self.server)
            self.server = None
            return ERROR["BUSY"]  # until it is decided
        return self._own_call(thread, index, number, a)

    def _own_call(self, thread: int, index: int, number: int, a: list[int]) -> int | None:
        vcpu, config = self.vcpus[index], self.tables.vcpus[index]
        if number in (CALL["INT_ENA"], CALL["INT_DIS"]):
            vcpu.open = number == CALL["INT_ENA"]
            vcpu.int_ena = int(vcpu.open)
            if vcpu.open:
                self._wake(index)
            return 0
        if number in (CALL["IRQ_ENA"], CALL["IRQ_DIS"]):
            return self._enable(index, a[0], number == CALL["IRQ_ENA"])
        if number == CALL["IRQ_DONE"]:
            return self._done(index, a[0])
        if number == CALL["TICK_SET"]:
            hz, rate = a[0], self.tables.tick_hz
            if hz > rate or (hz and rate % hz):
                return ERROR["ARGUMENT"]
            vcpu.period = rate // hz if hz else 0
            vcpu.due = self.ticks + vcpu.period
            return 0
        if number == CALL["WDG_CLR"]:
            vcpu.bites = self.ticks + config.watchdog if config.watchdog else None
            return 0
        if number == CALL["EVT_SND"]:
            if a[0] >= len(self.tables.events):
                return ERROR["ARGUMENT"]
            mine = self.tables.events[a[0]].sender == config.domain
            return self._deliver(a[0]) if mine and a[0] in self.may_send else ERROR["OWNER"]
        if number == CALL["VCT_WAKE"]:
            if vcpu.open:
                self._wake(index)
            return 0
        if number in (CALL["PIN_SET"], CALL["PIN_GET"]):
            return self._pin(thread, number, a)
        if number == CALL["PUTC"]:
            return self._put(config.text, a[0])
        if number == CALL["CYCLES"]:
            self.threads[thread].frame[0] = None
            return None
        if number == CALL["REBOOT"]:
            self.fault(thread, RESET)
            return None
        return ERROR["CALL"]

    def _put(self, number: int, character: int) -> int:
        if number == 0:
            return ERROR["OWNER"]
        text = self.texts[number - 1]
        if len(text.queue) == TEXT_ROOM:
            text.lost += 1
            return ERROR["BUSY"]
        text.queue.append(character & 0xFF)
        return 0

    def _take(self, number: int, frame: Words) -> int:
        if not 1 <= number <= len(self.texts):
            return ERROR["ARGUMENT"]
        text = self.texts[number - 1]
        piece = bytes(text.queue[:TEXT_PIECE])
        piece = piece[: piece.find(b"\n") + 1 or None]
        frame[1:3] = [int.from_bytes(piece, "little"), text.lost]
        del text.queue[: len(piece)]
        text.lost = 0
        return len(piece)

    def _enable(self, index: int, line: int, enable: bool) -> int:
        if line >= len(self.tables.routes):
            return ERROR["ARGUMENT"]
        route = self.tables.routes[line]
        if route.kind == ROUTE_SIGNAL:
            return route.virt_id if route.bottom == index else ERROR["OWNER"]
        if self.vcpus[index].lines.get(route.virt_id) != line or route.target != index:
            return ERROR["OWNER"]
        (self.enabled.add if enable else self.enabled.discard)(line)
        return route.virt_id

    def _pin(self, thread: int, number: int, a: list[int]) -> int | None:
        domain = self.tables.threads[thread].domain
        pins = [p for p in self.tables.pins if p.domain == domain and p.port == a[0]]
        if number == CALL["PIN_GET"] and a[1] > 1:
            return ERROR["ARGUMENT"]
        if not pins or (number == CALL["PIN_SET"] and a[1] & ~pins[0].mask):
            return ERROR["OWNER"]
        if number == CALL["PIN_GET"]:
            self.threads[thread].frame[0] = None
            return None
        return 0

    def capability(self, thread: int, number: int, kind: int, rights: int) -> int | None:
        domain = self.tables.domains[self.tables.threads[thread].domain]
        if number >= len(domain.capabilities):
            return None
        found = domain.capabilities[number]
        return found.index if found.type == kind and found.rights & rights == rights else None

    def _process_call(self, thread: int, number: int, a: list[int], frame: Words) -> int | None:
        c = self.c
        kind, right = {
            CALL["SIGNAL_WAIT"]: (c["CAP_SIGNAL"], c["RIGHT_WAIT"]),
            CALL["SIGNAL_SEND"]: (c["CAP_SIGNAL"], c["RIGHT_SEND"]),
            CALL["REQUEST_NEXT"]: (c["CAP_SIGNAL"], c["RIGHT_WAIT"]),
            CALL["EVT_SND"]: (c["CAP_EVENT"], c["RIGHT_SEND"]),
            CALL["VCPU_BUDGET"]: (c["CAP_VCPU"], c["RIGHT_CONTROL"]),
            CALL["DOMAIN_RESTART"]: (c["CAP_DOMAIN"], c["RIGHT_CONTROL"]),
            CALL["DOMAIN_STOP"]: (c["CAP_DOMAIN"], c["RIGHT_CONTROL"]),
            CALL["FAULT_DECIDED"]: (c["CAP_DOMAIN"], c["RIGHT_CONTROL"]),
            CALL["FAULT_READ"]: (c["CAP_LOG"], c["RIGHT_READ"]),
            CALL["FAULT_NEXT"]: (c["CAP_LOG"], c["RIGHT_CONTROL"]),
            CALL["STATUS"]: (c["CAP_LOG"], c["RIGHT_READ"]),
            CALL["TEXT_TAKE"]: (c["CAP_LOG"], c["RIGHT_CONTROL"]),
            CALL["TIMER_SET"]: (c["CAP_TIMER"], c["RIGHT_CONTROL"]),
        }.get(number, (0, 0))
        if kind == 0:
            return ERROR["CALL"]
        index = self.capability(thread, a[0], kind, right)
        if index is None:
            return ERROR["CAPABILITY"]
        if number == CALL["SIGNAL_WAIT"]:
            return self._wait(thread, index)
        if number == CALL["SIGNAL_SEND"]:
            self.send(index)
            return 0
        if number == CALL["REQUEST_NEXT"]:
            return self._next_request(thread, index, a, frame)
        if kind == c["CAP_EVENT"]:
            return self._deliver(index)
        if kind == c["CAP_VCPU"]:
            return ERROR["ARGUMENT"] if a[1] > self.tables.vcpus[index].budget else 0
        if kind == c["CAP_TIMER"]:
            self.timers[index] = self.ticks + min(a[1], 0x7FFFFFFF) if a[1] else None
            return 0
        if kind == c["CAP_DOMAIN"]:
            return self._on_domain(thread, index, number, a)
        if number == CALL["TEXT_TAKE"]:
            return self._take(a[1], frame)
        return self._on_log(number, a, frame)

    def _on_domain(self, thread: int, index: int, number: int, a: list[int]) -> int:
        if index == self.tables.threads[thread].domain:
            return ERROR["ARGUMENT"]
        if number == CALL["DOMAIN_STOP"]:
            return self.stop(index)
        if number == CALL["DOMAIN_RESTART"]:
            return self.restart(index)
        serial = self.newest.get(index, 0)
        newest = self.log[serial % LOG_RECORDS]
        if newest is None or newest.serial != serial or a[1] > LAST_DECISION:
            return ERROR["ARGUMENT"]
        newest.decision, newest.delay = a[1], min(a[2], 0xFFFF)
        return 0

    # --- requests to the hypervisor ---------------------------------------------------------------

    def _next_request(self, thread: int, signal: int, a: list[int], frame: Words) -> int | None:
        if signal != self.tables.vcpus[0].request_signal:
            return ERROR["CAPABILITY"]
        if self.asking is not None:
            vcpu, *asked = self.asking
            usr = self.threads[self.tables.vcpus[vcpu].usr]
            usr.frame[0] = a[1]
            if a[1] == 0:
                self._register(vcpu, *asked)
            self.asking = None
        if self.server is not None:
            frame[0] = None  # BUSY, or a budget that is due: see `learn_budget_request`
            return None
        self.server = thread
        frame[:] = [None] * 4
        self._block(thread, "request")
        return None

    def _refused(self, index: int, number: int, first: int, second: int) -> int:
        """0: the description has what the vCPU asks for."""
        if number == CALL["VCT_LCK"]:
            return 0
        table = self.tables.routes if number == CALL["VCT_PHYS"] else self.tables.events
        if first >= len(table):
            return ERROR["ARGUMENT"]
        if number == CALL["EVT_ADD"]:
            own = self.tables.events[first].sender == self.tables.vcpus[index].domain
            return 0 if own else ERROR["OWNER"]
        is_line = number == CALL["VCT_PHYS"]
        route = self.tables.routes[first] if is_line else self.tables.events[first].route
        own = (route.kind, route.target, route.virt_id) == (ROUTE_VCPU, index, second)
        return 0 if own else ERROR["OWNER"]

    def _register(self, index: int, number: int, first: int, second: int) -> None:
        if number == CALL["VCT_LCK"]:
            self.vcpus[index].locked = True
        elif number == CALL["EVT_ADD"]:
            self.may_send.add(first)
        elif number == CALL["VCT_PHYS"]:
            self.vcpus[index].lines[second] = first
        else:
            self.bound.add(first)

    # --- the log ---------------------------------------------------------------------------

    def _on_log(self, number: int, a: list[int], frame: Words) -> int | None:
        if number == CALL["FAULT_NEXT"]:
            if self.kept:
                self.kept -= 1
            return self.kept
        if number == CALL["FAULT_READ"]:
            record = self._record_after(a[1])
            words = self._words(record) if record else []
            frame[:] = [0, *(words[a[2] + n] if a[2] + n < len(words) else 0 for n in range(3))]
            return record.serial if record else 0
        if a[1] == 0:
            frame[1:] = [self.lost, 1, sum(1 << domain for domain in self.stopped)]
            return self.ticks
        if a[1] == 1 and a[2] < len(self.tables.domains):
            vcpu = self.tables.domains[a[2]].vcpu
            counts = [0, 0]
            if vcpu != NO_INDEX:
                counts = [self.vcpus[vcpu].served, self.vcpus[vcpu].dropped]
            frame[1:] = [self.restarts[a[2]], *counts]
            return self.restarts[a[2]]
        if a[1] == 2 and a[2] < self.tables.signals:
            signal = self.signals[a[2]]
            frame[1:] = [signal.count, 0, 0]
            return signal.delivered
        return ERROR["ARGUMENT"]

    def _record_after(self, serial: int) -> Record | None:
        """Serials that were never given mean nothing; as long as there is room, 0 to the newest."""
        full = all(self.log)
        records = [r for r in self.log if r]
        after = [
            r for r in records
            if serial == 0 or (later(r.serial, serial) if full else r.serial > serial)
        ]  # fmt: skip
        return min(after, key=lambda r: r.serial, default=None)

    @staticmethod
    def _words(record: Record) -> Words:
        """What nobody but the guest knows, place and task name, is left out."""
        return [
            record.tick,
            None,
            record.status if record.is_explained else 0,
            record.address if record.is_explained else 0,
            None,
            None,
            record.restarts if record.is_explained else 0,
            record.serial,
            *[None] * 4,
            record.decision | record.delay << 16,
        ]

    # --- what the kernel may choose -----------------------------------------------------------

    def learn_budget_request(self, seen: Seen) -> None:
        """Takes over that the hypervisor was asked for a budget."""
        if self.server is not None and seen.threads[self.server] == READY:
            self.threads[self.server].frame = [None, BUDGET, None, None]
            self._ready(self.server)
            self.server = None

    def may_run(self, seen: Seen) -> set[int]:
        """Threads of which one has to run now."""
        ready = [n for n, thread in enumerate(self.threads) if thread.state == READY]
        processes = [n for n in ready if self.vcpu_of(n) is None]
        first = max(processes, key=lambda n: self.tables.threads[n].priority)
        if self.tables.threads[first].priority:
            return {first}
        found = set()
        for index, config in enumerate(self.tables.vcpus):
            if seen.vcpus[index].budget > 0:
                threads = [t for t in (config.vct, config.usr) if t in ready]
                found |= set(threads[:1])  # VCT outranks USR
        if not found or self.server is None:
            found.add(first)  # nobody hears that a VM is due for its budget
        return found
