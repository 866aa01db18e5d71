"""Rules about one domain: names of the chip's blocks, threads, ticks, pins, C names."""

from __future__ import annotations

from composer.chips.chip import Chip, suggest
from composer.chips.family import family_of
from composer.description.model import Domain, Pin, Place, ProcessPart, System, VmPart
from composer.description.units import show_size, show_time, ticks
from composer.plan import (
    HYPERVISOR_THREADS,
    PRIORITY_MAX,
    THREADS_MAX,
    TICKS_MAX,
    VECTORS_MAX,
    VIRT_FIRST,
    VM_PRIORITY_MAX,
    c_name,
)

SMALLEST_STACK = 256
_STATE_BYTES = 512  # more than fvm_state needs on any core


def check_domain(system: System, domain: Domain, chip: Chip) -> None:
    """Raise the first rule that `domain` breaks."""
    for what, size in (("flash", domain.flash), ("ram", domain.ram)):
        if size < 1024:
            raise domain.place.error(
                f"'{domain.name}' has {what}=\"{show_size(size)}\"", "give it at least 1K"
            )
    if domain.fpu and not chip.core.fpu:
        raise domain.place.error(
            f"'{domain.name}' has fpu=\"yes\", {chip.name} has no FPU", 'write fpu="no"'
        )
    _devices(domain, chip)
    _irqs(domain, chip)
    for pin in domain.pins:
        check_pin(pin, chip)
    _fault(system, domain)
    if domain.acknowledged and not domain.project.is_ported:
        raise domain.acknowledged[0].place.error(
            f"the project of '{domain.name}' isn't ported, so there is nothing to acknowledge",
            "remove it",
        )
    if domain.vm is None and domain.project.entry != "main":
        raise domain.project.place.error(
            f"'{domain.name}' is a process, which begins in its threads, not in an entry",
            "leave 'entry' out, and name the function as a <thread>",
        )
    if domain.vm is not None:
        _vm(system, domain, domain.vm)
    if domain.process is not None:
        _process(system, domain, domain.process)


def check_pin(pin: Pin, chip: Chip) -> None:
    """A pin exists and can do what it is asked."""
    if family_of(chip).pin_port(pin) not in chip.devices or pin.name not in chip.pins:
        raise pin.place.error(f"{chip.name} has no pin {pin.name}", "correct 'port' and 'pin'")
    functions = chip.pins[pin.name]
    if (pin.mode == "alternate") != (pin.alternate is not None):
        has = "with" if pin.alternate is not None else "without"
        raise pin.place.error(
            f"pin {pin.name} has mode='{pin.mode}' {has} 'af'",
            'mode="alternate" goes with af="NUMBER"',
        )
    if pin.alternate is not None and str(pin.alternate) not in functions:
        known = "; ".join(f"af {n}: {', '.join(s)}" for n, s in functions.items())
        raise pin.place.error(f"pin {pin.name} has no af {pin.alternate}", known or "it has none")
    if pin.runtime and pin.mode != "output":
        raise pin.place.error(
            f"pin {pin.name} is set at run time but its mode is {pin.mode}", 'write mode="output"'
        )


def fault_names(system: System, process: Domain) -> tuple[str, ...]:
    """Names of the capabilities that a process has for the faults of others."""
    decided = system.decided_by(process)
    return (
        *(["faults"] if decided else []),
        *(["log"] if system.reads_log(process) else []),
        *(f"domain-{d.name}" for d in decided),
    )


def check_c_names(system: System) -> None:
    """Names of one domain's header are different C names."""
    for domain in system.domains:
        names: dict[str, Place] = {}
        vectors = [("VIRT", i.name, i.place) for i in domain.irqs if domain.vm]
        events = [e for e in system.events if domain.name in (e.sender, e.receiver)]
        entries = [*vectors, *(("EVT", e.name, e.place) for e in events)]
        if domain.vm:
            arriving = [e for e in events if e.receiver == domain.name and e.at is None]
            entries += [("VIRT", e.name, e.place) for e in arriving]
        if domain.process:
            entries += [("CAP", t.name, t.place) for t in domain.process.timers]
            entries += [("CAP", i.name, i.place) for i in domain.irqs]
            entries += [("CAP", e.name, e.place) for e in events]
            entries += [("CAP", name, domain.place) for name in fault_names(system, domain)]
            entries += [("CAP", p.name, p.place) for p in domain.process.ports]
            entries += [("CAP", i.port, i.place) for i in domain.process.invokes]
            entries += [("CAP", f.name, f.place) for f in domain.process.functions]
            entries += [("CAP", c.thread, c.place) for c in domain.process.controls]
            entries += [("CAP", f"slots-{d.name}", d.place) for d in domain.process.delegates]
            if domain.process.memory:
                entries.append(("CAP", "kernel-memory", domain.process.memory.place))
        shared = [s for s in system.shared if domain.name in [u.domain for u in s.users]]
        entries += [("SHM", s.name, s.place) for s in shared]
        for prefix, name, place in entries:
            macro = f"FVM_{prefix}_{c_name(name)}"
            if macro in names or (prefix == "VIRT" and c_name(name) in ("SWITCH", "TICK", "SVC")):
                raise place.error(
                    f"'{name}' gives '{domain.name}' a second {macro}", "choose another name"
                )
            names[macro] = place


def _devices(domain: Domain, chip: Chip) -> None:
    seen: dict[str, Place] = {}
    for device in (*domain.devices, *domain.clock_names):
        if device.name not in chip.devices:
            raise device.place.error(
                f"{chip.name} has no device '{device.name}'", suggest(device.name, chip.devices)
            )
    for device in domain.devices:
        reason = chip.devices[device.name].nobody
        if reason:
            raise device.place.error(f"'{device.name}' can't be granted: {reason}", "remove it")
        if device.name in seen:
            raise device.place.error(
                f"'{device.name}' is granted twice to '{domain.name}'", "remove one"
            )
        seen[device.name] = device.place
    for clock in domain.clock_names:
        if chip.devices[clock.name].enable is None:
            raise clock.place.error(
                f"'{clock.name}' has no clock to be enabled", "remove this <clock>"
            )


def _irqs(domain: Domain, chip: Chip) -> None:
    for irq in domain.irqs:
        if irq.name not in chip.interrupts:
            raise irq.place.error(
                f"{chip.name} has no interrupt '{irq.name}'", suggest(irq.name, chip.interrupts)
            )


def _fault(system: System, domain: Domain) -> None:
    fault, tick_hz = domain.fault, system.kernel.tick_hz
    if (fault.action == "user") != (fault.process is not None):
        raise fault.place.error(
            f"<fault> of '{domain.name}' has action=\"{fault.action}\""
            f" {'without' if fault.process is None else 'and'} 'process'",
            'action="user" goes with process="NAME"',
        )
    decider = next((p for p in system.processes if p.name == fault.process), None)
    if fault.process is not None and (decider is None or decider.fault.action == "user"):
        fit = [p.name for p in system.processes if p.fault.action != "user"]
        raise fault.place.error(
            f"'{fault.process}' can't decide about faults of '{domain.name}': "
            + ("there is no such process" if decider is None else "another decides about its own"),
            f"choose one of: {', '.join(fit)}" if fit else "add a process",
        )
    if decider is not None and domain.process is not None:
        least = min(t.priority for t in decider.process.threads) if decider.process else 0
        most = system.most_urgent(domain)
        if least <= most:
            raise fault.place.error(
                f"'{decider.name}', with a thread of priority {least}, can't start '{domain.name}',"
                f" with one of {most}",
                "who decides about a process has the higher priorities",
            )
        if system.can_be_lowered(decider):
            raise fault.place.error(
                f"'{decider.name}' can't start '{domain.name}': a thread of it may be given a lower"
                " priority at run time",
                f"let another process decide, or give '{decider.name}' no 'ceiling', neither by"
                " <control> nor by <kernel-memory>",
            )
    if fault.most != 0 and fault.action != "restart":
        raise fault.place.error(
            f'most={fault.most} with action="{fault.action}"',
            'it counts restarts: leave it out, or choose action="restart"',
        )
    if fault.delay_us > fault.longest_us:
        raise fault.place.error(
            f"the first delay, {show_time(fault.delay_us)}, is longer than the longest,"
            f" {show_time(fault.longest_us)}",
            "make 'delay' shorter or 'longest' longer",
        )
    if not 0 <= fault.most <= 65535:
        raise fault.place.error(f"most={fault.most}", "choose 1 to 65535, or 0 for no limit")
    if ticks(fault.within_us, tick_hz) > TICKS_MAX:
        raise fault.place.error(
            f"within {show_time(fault.within_us)} is more kernel ticks than 31 bits hold",
            f"choose at most {show_time(TICKS_MAX * 1_000_000 // tick_hz)}",
        )
    if fault.longest_us >= fault.within_us:
        raise fault.place.error(
            f"a delay of up to {show_time(fault.longest_us)} ends every row of faults within"
            f" {show_time(fault.within_us)}",
            "make 'longest' shorter or 'within' longer",
        )


def _spans(numbers: list[int]) -> str:
    """Rising numbers in words: 3 to 8, 10, 12 to 30."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][-1] + 1:
            spans[-1][1:] = [number]
        else:
            spans.append([number])
    return ", ".join(" to ".join(map(str, span)) for span in spans) or "none"


def _vm(system: System, domain: Domain, vm: VmPart) -> None:
    kernel_hz = system.kernel.tick_hz
    if vm.tick_hz < 1 or kernel_hz % vm.tick_hz:
        divisors = [d for d in range(kernel_hz, 0, -1) if kernel_hz % d == 0]
        near = sorted(divisors, key=lambda d: abs(d - vm.tick_hz))[:3]
        raise domain.place.error(
            f"tick of '{domain.name}' is {vm.tick_hz} Hz, which doesn't divide the kernel's"
            f" {kernel_hz} Hz",
            f"choose {', '.join(str(d) for d in sorted(near))} Hz or another kernel tick",
        )
    if not 0 <= vm.priority <= VM_PRIORITY_MAX:
        raise domain.place.error(
            f"priority of '{domain.name}' is {vm.priority}",
            f"choose 0 to {VM_PRIORITY_MAX}; larger is more urgent",
        )
    if not 1 <= vm.catchup <= 65535:
        raise domain.place.error(f"catchup {vm.catchup}", "choose 1 to 65535")
    if vm.watchdog_us and vm.watchdog_us * kernel_hz < 1_000_000:
        raise domain.place.error(
            f"watchdog {show_time(vm.watchdog_us)} is shorter than a kernel tick", "make it longer"
        )
    if ticks(vm.watchdog_us, kernel_hz) > TICKS_MAX:
        raise domain.place.error(
            f"watchdog {show_time(vm.watchdog_us)} is more kernel ticks than 31 bits hold",
            f"choose at most {show_time(TICKS_MAX * 1_000_000 // kernel_hz)}",
        )
    _stacks(domain, [("usr-stack", vm.usr_stack), ("vct-stack", vm.vct_stack)], _STATE_BYTES)
    events = sum(1 for e in system.events if e.receiver == domain.name and e.at is None)
    vectors = VIRT_FIRST + len(domain.irqs) + events
    if vectors > VECTORS_MAX:
        raise domain.place.error(
            f"'{domain.name}' has {vectors} virtual vectors, at most {VECTORS_MAX} are possible",
            "take interrupts or events away",
        )


def _process(system: System, domain: Domain, process: ProcessPart) -> None:
    if len(process.threads) > THREADS_MAX:
        raise domain.place.error(
            f"'{domain.name}' has {len(process.threads)} threads", f"at most {THREADS_MAX}"
        )
    taken = {priority: f"the hypervisor's {name}" for name, priority, _ in HYPERVISOR_THREADS}
    for other in system.processes:
        for thread in other.process.threads if other.process else ():
            if thread.priority in taken or not 0 < thread.priority < PRIORITY_MAX:
                parts = [p.process for p in system.processes if p.process is not None]
                used = {*taken, *(t.priority for part in parts for t in part.threads)}
                free = [p for p in range(2, PRIORITY_MAX) if p not in used]
                who = taken.get(thread.priority, "nobody")
                raise thread.place.error(
                    f"priority {thread.priority} of thread '{thread.name}' of '{other.name}'"
                    f" is {'taken by ' + who if thread.priority in taken else 'out of range'}",
                    f"each is unique; free: {_spans(free)}",
                )
            taken[thread.priority] = f"'{other.name}'"
    stacks = [(f"stack of {t.name}", t.stack) for t in process.threads]
    stacks += [(f"stack of port {p.name}", p.stack) for p in process.ports]
    _stacks(domain, stacks, 0)
    for timer in process.timers:
        scaled = timer.period_us * system.kernel.tick_hz
        if scaled > TICKS_MAX * 1_000_000:
            raise timer.place.error(
                f"period {show_time(timer.period_us)} of timer '{timer.name}' is more kernel ticks"
                " than 31 bits hold",
                f"choose at most {show_time(TICKS_MAX * 1_000_000 // system.kernel.tick_hz)}",
            )
        if scaled % 1_000_000 or scaled == 0:
            raise timer.place.error(
                f"period {show_time(timer.period_us)} of timer '{timer.name}' is no whole number"
                " of kernel ticks",
                f"choose a multiple of {show_time(1_000_000 // system.kernel.tick_hz)}",
            )


def _stacks(domain: Domain, stacks: list[tuple[str, int]], other: int) -> None:
    for what, size in stacks:
        if size < SMALLEST_STACK or size % 8:
            raise domain.place.error(
                f"{what} of '{domain.name}' is {show_size(size)}",
                f"choose a multiple of 8 from {SMALLEST_STACK}",
            )
    used = sum(size for _, size in stacks) + domain.heap + other
    if used > domain.ram:
        raise domain.place.error(
            f"stacks and heap of '{domain.name}' need {show_size(used)}, its RAM is"
            f" {show_size(domain.ram)}",
            "raise ram or lower them",
        )
