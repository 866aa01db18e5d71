"""Does the kernel's code do what the tables promise, in bounded time and nowhere else?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from composer.verify.analysis import FAULTS, PENDSV, SVC, THREAD_STACK, Analysis
from composer.verify.checks.entries import vector_name, vectors
from composer.verify.code.decode import LR
from composer.verify.code.effects import Access, Call, Effect, Special
from composer.verify.code.follow import NO_BOUND, Summary
from composer.verify.code.values import Entry, Outer, Range, Stack, Value, Word, limits
from composer.verify.expected import TO_SIGNAL, TRANSPARENT
from composer.verify.subject import Subject
from composer.verify.tables import SYSTEM_VECTORS

_SYSTICK = 15
_NMI, _MONITOR = 2, 12

_SYST_RVR, _VTOR, _AIRCR, _CCR, _SHCSR = 0xE000E014, 0xE000ED08, 0xE000ED0C, 0xE000ED14, 0xE000ED24
_CFSR, _HFSR, _CPACR, _FPCCR = 0xE000ED28, 0xE000ED2C, 0xE000ED88, 0xE000EF34
_ICSR, _MPU_CTRL = 0xE000ED04, 0xE000ED94
_MPU_REGIONS = range(0xE000ED9C, 0xE000EDBC, 4)
_ISER, _ICER = 0xE000E100, 0xE000E180
_IPR, _SHPR2, _SHPR3 = 0xE000E400, 0xE000ED1C, 0xE000ED20

_RESET_REQUEST = 0x05FA0004
_PENDSVSET = 1 << 28
_MPU_ON = 5  # ENABLE and PRIVDEFENA
_FAULT_ENABLES = 7 << 16
_UNSAFE_CCR = 0b11  # NONBASETHRDENA, USERSETMPEND
_LAZY_STACKING = 1 << 30
_NOT_PRIVILEGED = 1
_INDEXED = 8192  # bytes: an array of the kernel that a table's byte is an index of
_INT_PEND, _PENDING = 4, 144  # offsets in struct fvm_state
_FRAME, _FRAME_WITH_FPU = 32 + 4, 104 + 4  # bytes, aligned to 8
_SIGNAL_BYTES, _COUNT, _DELIVERED = 12, 4, 8  # of struct signal: waiter, count, delivered

# What an interrupt may store to in the system control space, besides its own line's ICER.
_SWITCHING = {_MPU_CTRL, _CPACR, *_MPU_REGIONS, _ICSR}
# What a watchdog adds: it stops a domain, or resets the chip when the hypervisor is lost.
_STOPPING = {_SHCSR, _AIRCR}


def check_stubs(subject: Subject, analysis: Analysis) -> Iterator[str]:
    """Every interrupt ends in bounded time, closes its line, and stores where it may."""
    for number, summary in analysis.handlers.items():
        if number not in (_SYSTICK, PENDSV) and number < SYSTEM_VECTORS:
            continue
        name = vector_name(number)
        for problem in sorted(summary.problems):
            yield f"{name}: {problem}"
        allowed = set(_SWITCHING) | _holding(subject)
        if number >= SYSTEM_VECTORS:
            line = number - SYSTEM_VECTORS
            allowed.add(_ICER + 4 * (line // 32))
            yield from _closes(subject, name, line, summary)
            yield from _serves(subject, analysis, name, line)
        else:
            allowed |= _STOPPING
        yield from _stores(subject, name, summary, allowed)
        if not _stored(summary, _ICSR) <= {_PENDSVSET}:
            yield f"{name}: pends or clears another exception than PendSV"


def _fits(subject: Subject, analysis: Analysis) -> Iterator[str]:
    """An entry finds the kernel's stack empty; only an interrupt at the end of the deferred work
    finds the processor's frame on it."""
    stack = vectors(subject)[0] - subject.ram_of("kernel").start
    frame = _FRAME_WITH_FPU if subject.chip.core.fpu else _FRAME
    for number, summary in analysis.handlers.items():
        interrupts = number == _SYSTICK or number >= SYSTEM_VECTORS
        needed = summary.depth + (frame if interrupts else 0)
        if needed > stack:
            yield f"{vector_name(number)}: needs {needed} bytes of stack, the kernel has {stack}"


def _holding(subject: Subject) -> set[int]:
    """Registers by which lines of less urgent VMs are held off while another VM runs."""
    words = {line // 32 for line in subject.expected.held_lines()}
    return {base + 4 * word for word in words for base in (_ISER, _ICER)}


def _closes(subject: Subject, name: str, line: int, summary: Summary) -> Iterator[str]:
    place, bit = _ICER + 4 * (line // 32), 1 << line % 32
    values = {store.value for store in summary.stores() if store.place == place}
    if place in _holding(subject):
        values = {value for value in values if isinstance(value, int) and value != 0}
    if values != {bit}:
        yield f"{name}: doesn't close its line, and that alone, at the NVIC"


def _serves(subject: Subject, analysis: Analysis, name: str, line: int) -> Iterator[str]:
    """A line with a route reaches what the route names: a signal, or a vector of a vCPU."""
    route = subject.expected.routes().get(line)
    if route is None:
        return
    summary = analysis.handlers[line + SYSTEM_VECTORS]
    if route.kind == TO_SIGNAL:
        if not _sends(analysis, summary, route.target):
            yield f"{name}: doesn't send signal {route.target}"
    elif not _pends(
        summary,
        analysis.held(line + SYSTEM_VECTORS),
        route.virt_id,
        bool(route.kind & TRANSPARENT),
        _states(subject, analysis, route.target),
    ):
        yield f"{name}: doesn't pend vector {route.virt_id} of vCPU {route.target}"


def _states(subject: Subject, analysis: Analysis, vcpu: int) -> set[Value]:
    """Where reset code keeps the address of a VM's state, which begins the VM's RAM."""
    tables = subject.tables
    begin = tables.domains[tables.vcpus[vcpu].domain].ram_base
    return {store.place for store in analysis.reset.stores() if store.value == begin}


def _pends(
    summary: Summary, held: Summary, vector: int, transparent: bool, known: set[Value]
) -> bool:
    """The vector's byte in the VM's state is set; while BASEPRI holds back, VCT is told to look
    later, by int_pend, unless the vector is transparent. `known`: who keeps the state's address."""
    states, later = _ones(summary, _PENDING + vector), _ones(held, _INT_PEND)
    return len(states) == 1 and states <= known and later == (set() if transparent else states)


def _ones(summary: Summary, offset: int) -> set[Value]:
    """Who keeps the pointers to structures that have a byte set to 1."""
    return {
        s.place.root
        for s in summary.stores()
        if isinstance(s.place, Word) and s.place.moved == offset and (s.size, s.value) == (1, 1)
    }


def _sends(analysis: Analysis, summary: Summary, signal: int) -> bool:
    """By what it stores, for sending may be expanded in place: waiter and count of a signal."""
    stored = {store.place for store in summary.stores()}
    waiters = {first + _SIGNAL_BYTES * signal for first in _signals(analysis)}
    return any({waiter, waiter + _COUNT} <= stored for waiter in waiters)


def _signals(analysis: Analysis) -> set[int]:
    """Where the signals may begin, seen where a process waits for one.

    A byte of a capability says which; all that is stored is a word of one. The slots of processes,
    as large, are reached further and in parts.
    """
    reached: dict[int, int] = {}
    for store in analysis.handlers[SVC].stores():
        if isinstance(store.place, Range) and store.place.step == _SIGNAL_BYTES:
            low, reach = store.place.low, store.place.high - store.place.low
            reached[low] = max(reached.get(low, 0), reach)
    return {
        first
        for first, reach in reached.items()
        if {first + _COUNT, first + _DELIVERED} <= reached.keys()
        and reach <= 0xFF * _SIGNAL_BYTES
        and not {first + part for part in (1, 2, 3)} & reached.keys()
    }


def _stores(subject: Subject, name: str, summary: Summary, registers: set[int]) -> Iterator[str]:
    ram = subject.ram_of("kernel")
    for store in summary.stores():
        if not _may_store(store.place, ram, registers):
            place = store.place
            where = f"0x{place:08x}" if isinstance(place, int) else "a place that isn't known"
            yield f"{name}: stores to {where} at 0x{store.at:08x}"


def _may_store(place: Value, ram: range, registers: set[int]) -> bool:
    """The kernel's RAM, its stack, what its own pointers lead to, or a listed register."""
    if isinstance(place, Word):
        place = place.root
        bounds = limits(place)
        return bounds is not None and bounds[0] in ram
    if isinstance(place, Stack):
        return place.offset < 0
    if isinstance(place, Outer):
        return True  # a frame of a caller in the same stub
    if isinstance(place, Range):
        return place.low in ram and (place.high in ram or place.high - place.low < _INDEXED)
    return isinstance(place, int) and (place in ram or place in registers)


def check_handlers(subject: Subject, analysis: Analysis) -> Iterator[str]:
    """Each exception's vector leads to code that does what this exception is for."""
    for number in (_NMI, _MONITOR):
        summary = analysis.handlers[number]
        if summary.returns or _stored(summary, _AIRCR) != {_RESET_REQUEST}:
            yield f"{vector_name(number)}: doesn't reset the chip, whatever happens"
    for number in FAULTS:
        summary = analysis.handlers[number]
        # EXC_RETURN as it was at entry says who caused it.
        if not _hands_over(summary, number, Entry(LR)) or not _loads(summary, _CFSR):
            yield f"{vector_name(number)}: doesn't look at the fault"
    for number in (*FAULTS, SVC, PENDSV):
        for problem in sorted(analysis.handlers[number].problems):
            if number == PENDSV or not problem.startswith(NO_BOUND):
                yield f"{vector_name(number)}: {problem}"
    yield from _fits(subject, analysis)
    if not _hands_over(analysis.handlers[SVC], THREAD_STACK):
        yield "SVCall: doesn't hand over the caller's stack"
    # Every entry may pend it once more on its way out; the tick's function has a reason of its own.
    tick = analysis.handlers[_SYSTICK]
    if _defers(tick.effects) <= _defers(tick.own):
        yield "SysTick: doesn't pend PendSV for what is due"
    if not any(
        _overlap(load, subject.tables.places["timer"]) for load in analysis.loads_of(PENDSV)
    ):
        yield "PendSV: doesn't serve the timer table"
    yield from _first_switch(analysis.handlers[PENDSV], subject.chip.core.fpu)
    for number, summary in analysis.handlers.items():
        values = _stored(summary, _MPU_CTRL)
        if values and not {_MPU_ON} <= values <= {0, _MPU_ON}:
            yield f"{vector_name(number)}: doesn't switch the protection unit on"


def _hands_over(summary: Summary, *wanted: Value) -> bool:
    """Whether functions serve the exception that get these first arguments, whichever way leads to
    them."""
    calls = [effect for effect in summary.own if isinstance(effect, Call)]
    count = len(wanted)
    served = {call.target for call in calls if call.arguments[:count] == wanted}
    return bool(served) and all(c.arguments[:count] == wanted for c in calls if c.target in served)


def _first_switch(summary: Summary, fpu: bool) -> Iterator[str]:
    """The start of the first thread drops privilege and loads the protection."""
    written = [e.value for e in _specials(summary) if e.name == "control" and e.written]
    if not written or not all(isinstance(v, int) and v & _NOT_PRIVILEGED for v in written):
        yield "PendSV: doesn't make threads unprivileged (CONTROL.nPRIV)"
    for register in (*_MPU_REGIONS, _MPU_CTRL, *((_CPACR,) if fpu else ())):
        if not _stored(summary, register):
            yield f"PendSV: doesn't load 0x{register:08x}"


def check_start(subject: Subject, analysis: Analysis) -> Iterator[str]:
    """Reset code sets the processor up as the rest relies on it."""
    reset = analysis.reset
    yield from (f"Reset: {problem}" for problem in sorted(reset.problems))
    yield from _protected(subject, analysis)
    flash = subject.flash_of("kernel").start
    ticks = subject.expected.cpu_hz // subject.system.kernel.tick_hz
    for what, register, wanted in (
        ("VTOR", _VTOR, flash),
        ("the tick's period", _SYST_RVR, ticks - 1),
        ("CPACR", _CPACR, 0),
    ):
        if _stored(reset, register) != {wanted}:
            yield f"Reset: {what} isn't set to 0x{wanted:x}"
    for what, register, needed, refused in (
        ("faults aren't enabled (SHCSR)", _SHCSR, _FAULT_ENABLES, 0),
        ("threads may do what they must not (CCR)", _CCR, 0, _UNSAFE_CCR),
        ("floating-point state is stacked late (FPCCR)", _FPCCR, 0, _LAZY_STACKING),
    ):
        if register == _FPCCR and not subject.chip.core.fpu:
            continue
        values = {s.value for s in reset.stores() if s.place == register and not _forgets(s)}
        good = [v for v in values if isinstance(v, int) and v & needed == needed]
        if not values or len(good) != len(values) or any(v & refused for v in good):
            yield f"Reset: {what}"
    yield from _priorities(subject, reset)


def _forgets(store: Access) -> bool:
    """A domain that can't start is stopped: what it may have pending is cleared, no enable."""
    return (
        isinstance(store.value, Range)
        and store.value.part_of == _SHCSR
        and store.value.high & _FAULT_ENABLES == _FAULT_ENABLES
    )


def _protected(subject: Subject, analysis: Analysis) -> Iterator[str]:
    """Without a unit the system doesn't start."""
    if not subject.system.kernel.protection:
        yield 'the description has protection="off": every domain can write every other'
    if subject.manifest.protection != subject.system.kernel.protection:
        yield f"the manifest says protection {'on' if subject.manifest.protection else 'off'}"
    started = _PENDSVSET in _stored(analysis.reset, _ICSR)
    if not started or _PENDSVSET in _stored(analysis.reset_without_unit, _ICSR):
        yield "Reset: doesn't refuse a chip without protection unit"


def _priorities(subject: Subject, reset: Summary) -> Iterator[str]:
    """All interrupts, SVCall and SysTick share one level, PendSV has one below: nothing but a fault
    preempts them."""
    levels: set[int | None] = set()
    for register in [_IPR + 4 * n for n in range(-(-subject.lines // 4))]:
        for value in _stored(reset, register) or {None}:
            levels |= set(value.to_bytes(4, "little")) if isinstance(value, int) else {None}
    for register in (_SHPR2, _SHPR3):
        levels |= _level(reset, register, 24)
    deferred = _level(reset, _SHPR3, 16)
    if len(levels) != 1 or not levels <= set(range(1, 256)):
        yield "Reset: interrupts and the kernel's exceptions don't share one priority below faults"
    elif not all(level is not None and level > max(filter(None, levels)) for level in deferred):
        yield "Reset: the deferred work (PendSV) isn't less urgent than interrupts"


def _level(reset: Summary, register: int, shift: int) -> set[int | None]:
    return {
        value >> shift & 0xFF if isinstance(value, int) else None
        for value in _stored(reset, register) or {None}
    }


def check_tables_used(subject: Subject, analysis: Analysis) -> Iterator[str]:
    """The kernel's code reads the tables that the directory names, not others."""
    loads = sorted(set(analysis.loads()))
    counts = {
        "domain": len(subject.tables.domains), "thread": len(subject.tables.threads),
        "vcpu": len(subject.tables.vcpus), "route": len(subject.tables.routes),
        "event": len(subject.tables.events), "timer": len(subject.tables.timers),
        "boot": len(subject.tables.boot), "pin": len(subject.tables.pins),
    }  # fmt: skip
    for name, count in counts.items():
        place = subject.tables.places[name]
        if count and not any(_overlap(load, place) for load in loads):
            yield f"no code of the kernel reads table '{name}' at 0x{place.start:08x}"


def _overlap(load: tuple[int, int], place: range) -> bool:
    low, high = load
    return low < place.stop and place.start <= high


def _stored(summary: Summary, register: int) -> set[Value]:
    """Every value that may be stored to a register."""
    return {store.value for store in summary.stores() if store.place == register}


def _defers(effects: Iterable[Effect]) -> set[int]:
    """Where PendSV is pended."""
    return {
        e.at
        for e in effects
        if isinstance(e, Access) and e.is_store and (e.place, e.value) == (_ICSR, _PENDSVSET)
    }


def _loads(summary: Summary, register: int) -> bool:
    return any(
        isinstance(e, Access) and not e.is_store and e.place == register for e in summary.effects
    )


def _specials(summary: Summary) -> list[Special]:
    return [e for e in summary.effects if isinstance(e, Special)]
