"""What the kernel promises, as a second opinion: written from docs/runtime.md and the headers.

It knows threads, signals, virtual vectors, lines, events, requests and the log. It doesn't know
which of several VMs with budget left runs: there it says which choices are right (`may_run`), and
it takes from the kernel when the hypervisor is asked for a budget.

Results that a thread will find are kept in `frame`; None is a word that nobody promised.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from tests.host.calls import CALL, ERROR, NONE
from tests.host.driver import Seen
from tests.host.tables import NO_INDEX, ROUTE_SIGNAL, ROUTE_VCPU, Route, Tables

STOPPED, READY, WAITING = 0, 1, 2
TICK, FIRST_VECTOR, VECTORS = 1, 3, 64
GROUP = 8  # vectors of one summary byte
LOG_RECORDS = 8
RECORD_WORDS = 13
LAST_DECISION = 2
FRAME = 32
WORD = 0xFFFFFFFF

# fault causes that the model raises by itself
STACKING, WATCHDOG, RESET = 4, 5, 6

SIGNAL, VCPU, DOMAIN, LOG, EVENT, TIMER = 1, 2, 3, 4, 5, 6
WAIT, SEND, CONTROL, READ = 1, 2, 4, 8

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
    request: tuple[int, int, int] | None = None
    posted: bool = False
    lines: dict[int, int] = field(default_factory=dict)  # virt_id -> physical line
    period: int = 0
    left: int = 0
    owed: int = 0
    served: int = 0
    dropped: int = 0
    watchdog: int = 0
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


def later(one: int, other: int) -> bool:
    """Of two serials of 31 bits."""
    return 0 < (one - other) % 2**31 < 2**30


class Model:
    """The state after power-on; methods named after what happens change it."""

    def __init__(self, tables: Tables) -> None:
        self.tables = tables
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
        self.log: deque[Record] = deque(maxlen=LOG_RECORDS)
        self.held = 0  # the newest so many records; older ones give way
        self.lost = 0
        self.serial = 0
        self.ticks = 0
        self.timers = [timer.period for timer in tables.timers]
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
        signal.count = min(signal.count + 1, WORD)
        waiter = signal.waiter
        if waiter is not None:
            signal.waiter = None
            self.threads[waiter].frame = [signal.count, None, None, None]
            signal.delivered += signal.count
            signal.count = 0
            self._ready(waiter)

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
        return 0

    # --- virtual vectors ---------------------------------------------------------------------

    def _wake(self, index: int) -> None:
        vct = self.tables.vcpus[index].vct
        if self.threads[vct].state == WAITING:
            self._ready(vct)
        else:
            self.vcpus[index].wake = True

    def pend(self, index: int, virt_id: int, transparent: bool) -> None:
        vcpu, config = self.vcpus[index], self.tables.vcpus[index]
        if self.threads[config.vct].state == STOPPED:
            return
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
        if self.held == LOG_RECORDS:
            self.lost += 1
            self.log.pop()
            self.serial += LOG_RECORDS  # in the same place
        else:
            self.held += 1
            self.serial += 1
        restarts = self.restarts[where.domain] + 1
        self.log.append(
            Record(
                self.ticks,
                where.domain,
                where.slot,
                cause,
                restarts,
                self.serial,
                status,
                address,
            )
        )
        self.stop(where.domain)
        self.send(self.tables.domains[where.domain].fault_signal)

    def stop(self, index: int) -> None:
        domain = self.tables.domains[index]
        for thread in domain.threads:
            if self.threads[thread].waits == "signal":
                self.signals[self.threads[thread].signal].waiter = None
            self.threads[thread] = ThreadModel(state=STOPPED)
        if domain.vcpu != NO_INDEX:
            self._stop_vcpu(domain.vcpu)
        for capability in domain.capabilities:
            if capability.type == SIGNAL and capability.rights & WAIT:
                self.signals[capability.index].count = 0
                line = self.line_of_signal.get(capability.index)
                if line is not None:
                    self.awaited.discard(line)
                    self.raised.discard(line)
        for event, config in enumerate(self.tables.events):
            if config.sender == index:
                self.may_send.discard(event)
            if config.route.kind == ROUTE_VCPU and config.route.target == domain.vcpu:
                self.bound.discard(event)
        self.stopped.add(index)

    def _stop_vcpu(self, index: int) -> None:
        old = self.vcpus[index]
        for line in old.lines.values():
            self.enabled.discard(line)
            self.closed.discard(line)
            self.raised.discard(line)
        fresh = VcpuModel(served=old.served, dropped=old.dropped)
        # Its memory stays as it was until it starts again.
        fresh.int_ena, fresh.pri, fresh.base = old.int_ena, old.pri, old.base
        fresh.pend_vector, fresh.pend_yield = old.pend_vector, old.pend_yield
        fresh.pending, fresh.groups = old.pending, old.groups
        self.vcpus[index] = fresh

    def restart(self, index: int) -> int:
        self.stop(index)
        domain = self.tables.domains[index]
        self.restarts[index] += 1
        for thread in domain.threads:
            self.threads[thread] = ThreadModel()
        if domain.vcpu != NO_INDEX:
            vcpu = self.vcpus[domain.vcpu]
            vcpu.int_ena = vcpu.pri = vcpu.base = vcpu.pend_vector = vcpu.pend_yield = 0
            vcpu.pending, vcpu.groups = set(), set()
        self.stopped.discard(index)
        return 0

    # --- time ----------------------------------------------------------------------------------

    def spend(self, cycles: int) -> None:
        """Time passes; lines that open meanwhile are taken at once."""
        ticks = (self.now + cycles) // self.tables.tick_cycles - self.now // self.tables.tick_cycles
        self.now += cycles
        for _ in range(ticks):
            self._tick()
            self.take_lines()

    def _tick(self) -> None:
        self.ticks += 1
        for index in range(len(self.vcpus)):
            self._tick_vcpu(index)
        for number, timer in enumerate(self.tables.timers):
            if self.timers[number] == 0:
                continue
            self.timers[number] -= 1
            if self.timers[number] == 0:
                self.timers[number] = timer.period
                self.send(timer.signal)

    def _tick_vcpu(self, index: int) -> None:
        vcpu, config = self.vcpus[index], self.tables.vcpus[index]
        if vcpu.watchdog:
            vcpu.watchdog -= 1
            if vcpu.watchdog == 0:
                vct_runs = self.threads[config.vct].state == READY
                self.fault(config.vct if vct_runs else config.usr, WATCHDOG)
                return
        if vcpu.period == 0:
            return
        vcpu.left -= 1
        if vcpu.left:
            return
        vcpu.left = vcpu.period
        if vcpu.owed == 0:
            vcpu.owed = 1
            self.pend(index, TICK, False)
        elif vcpu.owed < config.catchup:
            vcpu.owed += 1
        else:
            vcpu.dropped += 1

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
            vcpu.request = (number, a[0], a[1])
            vcpu.posted = True
            self._block(thread, "request")
            self.send(config.request_signal)
            return None
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
            vcpu.period = vcpu.left = rate // hz if hz else 0
            return 0
        if number == CALL["WDG_CLR"]:
            vcpu.watchdog = config.watchdog
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
        if number == CALL["CYCLES"]:
            self.threads[thread].frame[0] = None
            return None
        if number == CALL["REBOOT"]:
            self.fault(thread, RESET)
            return None
        return ERROR["CALL"]

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
        kind, right = {
            CALL["SIGNAL_WAIT"]: (SIGNAL, WAIT),
            CALL["SIGNAL_SEND"]: (SIGNAL, SEND),
            CALL["REQUEST_GET"]: (SIGNAL, WAIT),
            CALL["EVT_SND"]: (EVENT, SEND),
            CALL["REQUEST_REPLY"]: (VCPU, CONTROL),
            CALL["VCPU_ROUTE"]: (VCPU, CONTROL),
            CALL["VCPU_EVENT"]: (VCPU, CONTROL),
            CALL["VCPU_LOCK"]: (VCPU, CONTROL),
            CALL["VCPU_BUDGET"]: (VCPU, CONTROL),
            CALL["DOMAIN_RESTART"]: (DOMAIN, CONTROL),
            CALL["FAULT_READ"]: (LOG, READ),
            CALL["FAULT_NEXT"]: (LOG, CONTROL),
            CALL["STATUS"]: (LOG, READ),
            CALL["FAULT_DECIDED"]: (DOMAIN, CONTROL),
            CALL["TIMER_SET"]: (TIMER, CONTROL),
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
        if number == CALL["REQUEST_GET"]:
            frame[:] = [None] * 4  # see `got_request`
            return None
        if kind == EVENT:
            return self._deliver(index)
        if kind == VCPU:
            return self._on_vcpu(index, number, a)
        if kind == DOMAIN:
            if index == self.tables.threads[thread].domain:
                return ERROR["ARGUMENT"]
            if number == CALL["FAULT_DECIDED"]:
                return self._decided(index, a[1], a[2])
            return self.restart(index)
        if kind == TIMER:
            self.timers[index] = a[1]
            return 0
        return self._on_log(number, a, frame)

    def _on_vcpu(self, index: int, number: int, a: list[int]) -> int:
        vcpu, config = self.vcpus[index], self.tables.vcpus[index]
        if number == CALL["REQUEST_REPLY"]:
            if vcpu.request is None:
                return ERROR["ARGUMENT"]
            vcpu.request = None
            if self.threads[config.usr].frame[0] is not None:
                self.threads[config.usr].frame[0] = a[1]
            self._ready(config.usr)
            return 0
        if number == CALL["VCPU_BUDGET"]:
            return ERROR["ARGUMENT"] if a[1] > config.budget else 0
        if vcpu.locked:
            return ERROR["LOCKED"]
        if number == CALL["VCPU_LOCK"]:
            vcpu.locked = True
            return 0
        table = self.tables.routes if number == CALL["VCPU_ROUTE"] else self.tables.events
        if a[1] >= len(table):
            return ERROR["ARGUMENT"]
        if number == CALL["VCPU_EVENT"] and a[2] == NONE:
            if self.tables.events[a[1]].sender != config.domain:
                return ERROR["OWNER"]
            self.may_send.add(a[1])
            return 0
        route = (
            self.tables.routes[a[1]]
            if number == CALL["VCPU_ROUTE"]
            else self.tables.events[a[1]].route
        )
        if not self._is_for(route, index, a[2]):
            return ERROR["OWNER"]
        if number == CALL["VCPU_ROUTE"]:
            vcpu.lines[a[2]] = a[1]
        else:
            self.bound.add(a[1])
        return 0

    @staticmethod
    def _is_for(route: Route, vcpu: int, virt_id: int) -> bool:
        return route.kind == ROUTE_VCPU and route.target == vcpu and route.virt_id == virt_id

    def _on_log(self, number: int, a: list[int], frame: Words) -> int | None:
        if number == CALL["FAULT_NEXT"]:
            self.held = max(self.held - 1, 0)
            return self.held
        if number == CALL["FAULT_READ"]:
            after = [r for r in self.log if a[1] == 0 or later(r.serial, a[1])]
            words = self._record_words(after[0]) if after else [0] * RECORD_WORDS
            frame[1:] = [words[a[2] + n] if a[2] + n < RECORD_WORDS else 0 for n in range(3)]
            return after[0].serial if after else 0
        if a[1] == 0:
            stopped = sum(1 << domain for domain in self.stopped)
            frame[1:] = [self.lost, 1, stopped]
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

    def _decided(self, domain: int, decision: int, delay: int) -> int:
        for record in reversed(self.log):
            if record.domain == domain and decision <= LAST_DECISION:
                record.decision, record.delay = decision, min(delay, 0xFFFF)
                return 0
        return ERROR["ARGUMENT"]

    def _record_words(self, record: Record) -> Words:
        """Place and task name come from the guest's own memory."""
        return [
            record.tick,
            None,  # domain, thread, cause, flags
            record.status,
            record.address if record.address is not None else None,
            None,
            None,
            record.restarts,
            record.serial,
            *[None] * 4,
            record.decision | record.delay << 16,
        ]

    # --- what the kernel may choose -----------------------------------------------------------

    def got_request(self, signal: int, frame: list[int]) -> None:
        """The hypervisor was handed `frame`; the model learns whose call is no longer posted."""
        posted = [
            n
            for n, vcpu in enumerate(self.vcpus)
            if vcpu.posted and self.tables.vcpus[n].request_signal == signal
        ]
        if frame[0] == ERROR["BUSY"]:
            assert not posted, f"calls of {posted} wait, and the hypervisor hears of none"
            return
        assert frame[0] < len(self.vcpus), f"no such vCPU: {frame}"
        if frame[1] == 0xFF:
            assert self.tables.vcpus[frame[0]].budget_signal == signal
            return
        assert frame[0] in posted, f"{frame} was never posted"
        vcpu = self.vcpus[frame[0]]
        vcpu.posted = False
        assert tuple(frame[1:]) == (vcpu.request or (0, *frame[2:])), "another call"

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
        return found or {first}
