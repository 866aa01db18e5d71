"""Drives kernel and model by the same steps and compares them after each.

A step is four numbers; what they mean depends on which thread runs, so that most of what is tried
is possible. A sequence of numbers is all that is needed to see a failure again.
"""

from __future__ import annotations

import random
from collections.abc import Iterable

from tests.host.calls import CALL, ERROR, NAME, NONE
from tests.host.driver import Driver
from tests.host.model import BUDGET, MORE, ChipReset, Model
from tests.host.tables import ROUTE_VCPU

Step = tuple[int, int, int, int]

EDGES = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0xFFFFFFFE, 64, 63, 255, 256)


class Mismatch(AssertionError):
    """Kernel and model differ; the message holds the steps so far."""


class Run:
    """One power-on and what follows."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.tables = driver.tables
        self.model = Model(driver.tables)
        self.said: list[str] = []
        self.seen = driver.power_on()
        self.over = False
        self.asked: list[int] = []  # frame of the request that the manager has dealt with
        self._compare()

    # --- comparing -------------------------------------------------------------------------

    def _fail(self, what: str) -> None:
        raise Mismatch(f"{what}\n  " + "\n  ".join(self.said))

    def _equal(self, what: str, kernel: object, model: object) -> None:
        if kernel != model:
            self._fail(f"{what}: kernel {kernel}, model {model}")

    def _compare(self) -> None:
        model, seen = self.model, self.seen
        model.learn_budget_request(seen)
        self._equal("thread states", seen.threads, [t.state for t in model.threads])
        for index, signal in enumerate(model.signals):
            counts = (signal.delivered & 0xFFFFFFFF, signal.count)
            self._equal(f"signal {index}", seen.signals[index], counts)
        self._equal("restarts", seen.domains, model.restarts)
        self._equal("stopped", seen.stopped, sum(1 << n for n in model.stopped))
        self._equal("lost records", seen.lost, model.lost)
        self._equal("open lines", set(seen.open), model.open_lines())
        self._equal("pending lines", set(seen.raised), model.raised)
        for index, vcpu in enumerate(model.vcpus):
            kernel = seen.vcpus[index]
            self._equal(f"pending of vCPU {index}", set(kernel.pending), vcpu.pending)
            self._equal(f"groups of vCPU {index}", set(kernel.groups), vcpu.groups)
            self._equal(f"int_ena {index}", kernel.int_ena, vcpu.int_ena)
            self._equal(f"int_mask {index}", kernel.mask, vcpu.pri | vcpu.base << 8)
            self._equal(f"int_pend {index}", kernel.pend, vcpu.pend_vector | vcpu.pend_yield << 8)
            if kernel.budget > self.tables.vcpus[index].budget:
                self._fail(f"vCPU {index} has more than its budget: {kernel.budget}")
        may = model.may_run(seen)
        if seen.current not in may:
            self._fail(f"thread {seen.current} runs, not one of {may}")
        self._equal("protection", seen.loaded, self.tables.threads[seen.current].domain)
        if not model.threads[seen.current].wild:
            for word, promised in zip(seen.frame, model.threads[seen.current].frame, strict=True):
                if promised is not None and word != promised:
                    self._fail(
                        f"frame of thread {seen.current}: {seen.frame}, "
                        f"model {model.threads[seen.current].frame}"
                    )

    # --- steps -----------------------------------------------------------------------------

    def _do(self, line: str) -> None:
        """The kernel makes a step that the model makes too, right before or after."""
        self.said.append(f"{line:32} by thread {self.seen.current}")
        seen = self.driver.step(line)
        if seen is None:
            self._fail("the kernel reset the chip")
        else:
            self.seen = seen

    def _reset_expected(self, line: str) -> None:
        self.said.append(line)
        if self.driver.step(line) is not None:
            self._fail("the kernel went on after a fault of the hypervisor")
        self.over = True

    def call(self, number: int, *arguments: int) -> None:
        a = [argument & 0xFFFFFFFF for argument in (*arguments, 0, 0, 0, 0)[:4]]
        line = f"call {number} {a[0]} {a[1]} {a[2]} {a[3]}"
        thread = self.seen.current
        try:
            self.model.call(thread, self.seen.stack, number, a)
        except ChipReset:
            self._reset_expected(line)
            return
        self.model.take_lines()
        self._do(line)
        self._compare()

    def store(self, field: str, value: int, byte: int = 0, size: int = 1) -> None:
        """The running VM stores to byte `byte` of a field of its fvm_state."""
        vcpu = self.model.vcpu_of(self.seen.current)
        assert vcpu is not None
        state = self.model.vcpus[vcpu]
        if field == "mask":
            setattr(state, ("pri", "base")[byte], value)
        elif field == "pend":
            setattr(state, ("pend_vector", "pend_yield")[byte], value)
        elif field in ("pending", "pending_group"):
            flags = state.pending if field == "pending" else state.groups
            (flags.add if value else flags.discard)(byte)
        elif field == "usr_stack":
            self.model.threads[self.tables.vcpus[vcpu].usr].wild = True
        self._do(f"store {self.tables.offsets[field] + byte} {size} {value}")
        self._compare()

    def stack(self, address: int) -> None:
        self.model.threads[self.seen.current].wild = True
        self._do(f"stack {address & 0xFFFFFFFF}")

    def line(self, line: int) -> None:
        self.model.raise_line(line)
        self._do(f"line {line}")
        self._compare()

    def spend(self, cycles: int, nested: int | None = None) -> None:
        self._do(f"spend {cycles} {0xFFFF if nested is None else nested}")
        self.model.spend(cycles, nested, self.seen.nested)
        self._compare()

    def fault(self, exception: int, status: int, cause: int, address: int) -> None:
        line = f"fault {exception} {status} {address}"
        try:
            self.model.fault(self.seen.current, cause, status)
        except ChipReset:
            self._reset_expected(line)
            return
        self.model.take_lines()
        self._do(line)
        self._compare()


# --- what four numbers mean -----------------------------------------------------------------

# exception, CFSR, cause: MemManage, BusFault, UsageFault, HardFault, stacking
FAULTS = (
    (4, 0x82, 0),
    (5, 0x8200, 1),
    (6, 0x10000, 2),
    (3, 0, 3),
    (4, 0x10, 4),
    (4, 0x8, 4),
    (5, 0x1000, 4),
    (6, 0x40000, 2),
)


def _environment(run: Run, x: int, y: int) -> None:
    tables = run.tables
    if x % 4 < 2:
        routed = [line for line, route in enumerate(tables.routes) if route.kind]
        run.line(y % len(tables.routes) if x % 32 == 1 else routed[y % len(routed)])
    elif x % 4 == 2:
        run.spend(y % (tables.tick_cycles // 2))
    else:
        lines = [None, None, *(line for line, route in enumerate(tables.routes) if route.kind)]
        most = 40 if y % 8 == 0 else 3
        run.spend(y * 64 % (most * tables.tick_cycles), lines[x // 4 % len(lines)])


def _hostile_stack(run: Run, x: int, y: int) -> int:
    own = run.tables.domains[run.tables.threads[run.seen.current].domain]
    other = run.tables.domains[y % len(run.tables.domains)]
    end = own.ram + own.ram_size
    choices = (
        *(own.ram - 32, own.ram - 4, own.ram - 1, end, end - 28, end - 4, end - 32, end - 31),
        *(end - 30, own.ram + 0x300, own.ram + 0x302, other.ram + 0x300, other.ram - 16),
        *(other.flash, 0, 4, 0xFFFFFFE0, 0xFFFFFFFC, 0x80000000),
    )
    address = choices[x % len(choices)]
    in_other = other is not own and other.ram <= address < other.ram + other.ram_size
    return own.ram - 4 if in_other and x % 2 else address


def _vm_store(run: Run, x: int, y: int) -> None:
    kind = x % 16
    if kind < 6:
        run.store("mask", y & 1, kind & 1)
    elif kind < 8:
        run.store("pend", y & 1, kind & 1)
    elif kind < 12:
        run.store("pending", y >> 8 & 1, y % 64)
    elif kind == 12:
        run.store("pending_group", y >> 8 & 1, y % 8)
    elif kind == 13:
        own = run.tables.domains[run.tables.threads[run.seen.current].domain]
        end = own.ram + own.ram_size
        places = (end - 5, end - 4, end, own.flash + 8, own.ram - 4, own.ram - 1, 0, 0xFFFFFFFF)
        field = ("task_name", "switch_task", "switch_name")[y // 8 % 3]
        run.store(field, places[y % 8], size=4)
    elif run.model.is_vct(run.seen.current):
        if kind == 14:
            run.store("usr_return", y, size=4)
        else:
            run.store("usr_stack", _hostile_stack(run, y, y >> 8), size=4)


def _vm_call(run: Run, kind: int, x: int, y: int, z: int) -> None:
    model, tables = run.model, run.tables
    index = model.vcpu_of(run.seen.current)
    assert index is not None
    lines = [n for n, route in enumerate(tables.routes) if route.kind] + [len(tables.routes), y]
    mine = [
        (n, r) for n, r in enumerate(tables.routes) if r.kind == ROUTE_VCPU and r.target == index
    ]
    event = y % (len(tables.events) + 2)
    virt_id = y % 8 if y % 16 else EDGES[z % len(EDGES)]
    vector_of_event = tables.events[event % len(tables.events)].route.virt_id
    numbers = {
        "VCT_WAIT": (virt_id if y % 4 else NONE,),
        "INT_ENA": (),
        "INT_DIS": (),
        "IRQ_ENA": (mine[y % len(mine)][0] if y % 4 else lines[z % len(lines)],),
        "IRQ_DIS": (lines[z % len(lines)],),
        "IRQ_DONE": (virt_id,),
        "TICK_SET": ((1000, 500, 100, 0, 3, 1001, NONE)[y % 7],),
        "WDG_CLR": (),
        "EVT_SND": (event,),
        "VCT_WAKE": (),
        "PIN_SET": (y % 3, 1 << z % 8, z),
        "PIN_GET": (y % 3, z % 3),
        "PUTC": (ord("\n") if y % 5 == 0 else z,),
        "VCT_EVT": (event, vector_of_event if z % 4 else z % 8),
        "EVT_ADD": (event,),
        "VCT_LCK": (),
    }
    waits = 1 if model.is_usr(run.seen.current) else 8
    weighted = (
        ["VCT_WAIT"] * waits + ["INT_ENA", "IRQ_ENA", "IRQ_ENA", "EVT_SND"] * 2 + list(numbers)
    )
    name = weighted[x % len(weighted)]
    if kind % 8 == 0:
        every = [(n, r) for n, r in enumerate(tables.routes) if r.kind]
        line, route = every[y % len(every)]
        run.call(CALL["VCT_PHYS"], line if z % 4 else z, route.virt_id if z % 8 else z)
    elif kind % 64 == 1:
        run.call(CALL["REBOOT"])
    elif kind % 64 == 2:
        run.call(CALL["RESUME"], _hostile_stack(run, y, z), z)
    else:
        run.call(CALL[name], *numbers[name])


def _boot(run: Run) -> bool:
    """The next call of a VM's start-up code; False when it has made them all."""
    index = run.model.vcpu_of(run.seen.current)
    assert index is not None
    model, tables, domain = run.model, run.tables, run.tables.vcpus[index].domain
    vcpu = model.vcpus[index]
    mine = [
        (n, r) for n, r in enumerate(tables.routes) if (r.kind, r.target) == (ROUTE_VCPU, index)
    ]
    events = list(enumerate(tables.events))
    wanted = [("VCT_PHYS", n, r.virt_id) for n, r in mine if r.virt_id not in vcpu.lines]
    wanted += [
        ("VCT_EVT", n, e.route.virt_id)
        for n, e in events
        if (e.route.kind, e.route.target) == (ROUTE_VCPU, index) and n not in model.bound
    ]
    wanted += [
        ("EVT_ADD", n, 0) for n, e in events if e.sender == domain and n not in model.may_send
    ]
    if vcpu.locked:
        wanted = []
    wanted += [] if vcpu.open else [("INT_ENA", 0, 0)]
    wanted += [("IRQ_ENA", n, 0) for n, _ in mine if n not in model.enabled]
    wanted += [] if vcpu.period else [("TICK_SET", tables.tick_hz, 0)]
    wanted += [] if vcpu.bites or not tables.vcpus[index].watchdog else [("WDG_CLR", 0, 0)]
    if wanted:
        name, *arguments = wanted[0]
        run.call(CALL[name], *arguments)
    return bool(wanted)


def _capability(run: Run, kind: int, x: int) -> int:
    """A number that names such a capability of the running thread, or any number."""
    own = run.tables.domains[run.tables.threads[run.seen.current].domain].capabilities
    good = [number for number, capability in enumerate(own) if capability.type == kind]
    if x % 8 == 0 or not good:
        return (*range(len(own) + 2), *EDGES)[x // 8 % (len(own) + 2 + len(EDGES))]
    return good[x % len(good)]


def _index(run: Run, kind: str, index: int) -> int:
    """The running thread's capability number of an object."""
    own = run.tables.domains[run.tables.threads[run.seen.current].domain].capabilities
    wanted = run.tables.constants[kind]
    return next(n for n, c in enumerate(own) if (c.type, c.index) == (wanted, index))


def _well_behaved(run: Run, x: int) -> None:
    """What the hypervisor's threads do when they are well."""
    slot = run.tables.threads[run.seen.current].slot
    if slot == 0 and run.model.stopped:
        cap = _index(run, "CAP_DOMAIN", min(run.model.stopped))
        thread = run.seen.current
        for _ in range(1 + x % 32):
            run.call(CALL["DOMAIN_RESTART"], cap)
            if run.seen.current != thread or run.seen.frame[0] != MORE:
                break
    elif slot == 1:
        _manage(run, x)
    elif slot == 2 and x % 4:
        log = _index(run, "CAP_LOG", 0)
        calls = (
            ("STATUS", x // 4 % 3, x // 16 % 9),
            ("FAULT_READ", x // 16 % 12, x // 4 % 14),
            ("TEXT_TAKE", x // 4 % 4),
        )
        name, *arguments = calls[x % 3]
        run.call(CALL[name], log, *arguments)
    else:
        run.call(CALL["SIGNAL_WAIT"], slot)


def _manage(run: Run, x: int) -> None:
    """The frame of the manager's thread holds what it was asked for."""
    signal = _index(run, "CAP_SIGNAL", run.tables.vcpus[0].request_signal)
    vcpu, number, *_ = run.seen.frame
    if run.model.asking:
        run.call(CALL["REQUEST_NEXT"], signal, 0 if x % 8 else ERROR["OWNER"])
    elif number == BUDGET and vcpu < len(run.tables.vcpus) and run.asked != run.seen.frame:
        run.call(CALL["VCPU_BUDGET"], _index(run, "CAP_VCPU", vcpu), run.tables.vcpus[vcpu].budget)
        run.asked = run.seen.frame
    else:
        run.asked = []
        run.call(CALL["REQUEST_NEXT"], signal, 0)


def _process_call(run: Run, kind: int, x: int, y: int, z: int) -> None:
    tables = run.tables
    thread = run.seen.current
    domain = tables.threads[thread].domain
    if domain == 0 and kind % 8:
        _well_behaved(run, x)
        return
    names = ["SIGNAL_WAIT"] * 4 + ["SIGNAL_SEND", "EVT_SND", "EVT_SND", "REQUEST_NEXT"]
    names += ["VCPU_BUDGET", "DOMAIN_RESTART", "DOMAIN_STOP", "FAULT_DECIDED", "TIMER_SET"]
    names += ["FAULT_READ", "FAULT_NEXT", "STATUS", "STATUS", "TEXT_TAKE"]
    if domain == 0:  # a hypervisor that doesn't decide on what it took is no part of the promise
        names = [name for name in names if name not in ("REQUEST_NEXT", "SIGNAL_WAIT")]
    name = names[x % len(names)]
    kinds = {
        "VCPU": "VCPU",
        "EVT_": "EVENT",
        "DOMA": "DOMAIN",
        "STAT": "LOG",
        "TEXT": "LOG",
        "TIME": "TIMER",
    }
    subject = kinds.get(name[:4], "SIGNAL")
    if name.startswith("FAULT"):
        subject = "DOMAIN" if name == "FAULT_DECIDED" else "LOG"
    cap = _capability(run, tables.constants[f"CAP_{subject}"], y)
    second: tuple[int, ...] = (z % 14, z // 16 % 14)
    if name == "REQUEST_NEXT":
        second = (z % 2,)
    elif name == "VCPU_BUDGET":
        second = (EDGES[z % len(EDGES)] if z % 4 == 0 else z % 840001,)
    elif name == "STATUS":
        second = (z % 4, z // 16 % 10)
    elif name == "TEXT_TAKE":
        second = (z % 4,)
    elif name == "FAULT_DECIDED":
        second = (z % 4, z // 4)
    run.call(CALL[name], cap, *second)


def interpret(run: Run, step: Step) -> None:
    """Makes one step."""
    kind, x, y, z = step
    thread = run.seen.current
    is_hypervisor = run.tables.threads[thread].domain == 0
    idle = is_hypervisor and run.tables.threads[thread].priority == 0  # makes no calls
    rare = kind % 32
    if rare < 6 or (idle and rare > 7):
        _environment(run, x, y)
    elif rare == 6 and x % (64 if is_hypervisor else 3) == 0:
        if y % 2 and not is_hypervisor:
            run.stack(_hostile_stack(run, y // 2, z))
        exception, status, cause = FAULTS[x % len(FAULTS)]
        run.fault(exception, status, cause, y)
    elif rare == 7 and x % (64 if is_hypervisor else 6) == 0:
        run.stack(_hostile_stack(run, x, y))
    elif rare == 8:
        number = z if x % 2 else x // 2 % 64
        if number not in NAME or (x % 4 == 0 and not is_hypervisor):
            run.call(number, *(EDGES[n % len(EDGES)] for n in (x // 64, y, y // 16, z)))
    elif run.model.vcpu_of(thread) is None:
        _process_call(run, kind // 32, x, y, z)
    elif kind // 32 % 4 == 0:
        _vm_store(run, x, y)
    elif kind // 32 % 4 in (1, 2) and run.model.is_usr(thread) and _boot(run):
        pass
    else:
        _vm_call(run, kind // 64, x, y, z)


def play(driver: Driver, steps: Iterable[Step]) -> int:
    """A whole run; how many steps it had before the chip reset. Mismatch when they differ."""
    run = Run(driver)
    done = 0
    for step in steps:
        if run.over:
            break
        interpret(run, step)
        done += 1
    driver.power_off()
    return done


def random_steps(seed: int, count: int) -> list[Step]:
    """The same steps for the same seed, everywhere."""
    source = random.Random(seed)
    return [
        (
            source.getrandbits(16),
            source.getrandbits(16),
            source.getrandbits(16),
            source.getrandbits(32),
        )
        for _ in range(count)
    ]
