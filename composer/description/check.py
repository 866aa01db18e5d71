"""Rules that the schema can't say. Each breach is one error at the place that causes it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from composer.chips.chip import Board, Chip
from composer.chips.family import family_of
from composer.description import check_domain
from composer.description.check_control import check_controls
from composer.description.check_invocation import check_invocation
from composer.description.check_neighbours import check_neighbours
from composer.description.check_run_time import check_run_time
from composer.description.model import Clocks, Named, Place, System
from composer.description.units import show_size, show_time
from composer.plan import DOMAINS_MAX, TICKS_MAX

_LONGEST_TICK = 1 << 24  # cycles: SysTick has 24 bits
_SHORTEST_TICK = 2000  # cycles: the kernel, the log and the refills of a tick take half of that
_RECORDS = (2, 4, 8, 16, 32)  # a record's place is the end of its number
_SLICE_PERIODS = 5  # runtime rule: longest slice in periods of the fastest tick
_Key = TypeVar("_Key")
# Folders in the output, and files in its folder `debug`.
_RESERVED = ("kernel", "hypervisor", "ported", "split", "image", "debug", "system", "commands")


def check_system(system: System, chip: Chip, board: Board | None) -> None:
    """Raise the first rule that `system` breaks."""
    if board is not None and board.chip != chip.name:
        raise system.place.error(
            f"board '{board.name}' has chip {board.chip}, not {chip.name}",
            "correct 'chip' or 'board'",
        )
    _names(system)
    _kernel(system, chip)
    for pin in system.kernel.pins:
        check_domain.check_pin(pin, chip)
    for domain in system.domains:
        check_domain.check_domain(system, domain, chip)
    _slice(system)
    _shared(system)
    _events(system)
    check_invocation(system)
    check_controls(system)
    check_run_time(system)
    _devices(system)
    check_neighbours(system, chip)
    _pins(system)
    check_domain.check_c_names(system)
    _clocks(system, chip)


def merged_clocks(system: System) -> Clocks | None:
    """The one clock tree; an error when two differ."""
    all_clocks = [*system.clocks, *(c for d in system.domains for c in d.clocks)]
    for other in all_clocks[1:]:
        if other.values() != all_clocks[0].values():
            first = all_clocks[0].place
            raise other.place.error(
                f"<clocks> differ from those in line {first.line}",
                "one chip has one clock tree: make them equal",
            )
    return all_clocks[0] if all_clocks else None


def unique(items: Iterable[tuple[str, Place]], what: str) -> None:
    """Raise when a name comes twice."""
    seen: dict[str, Place] = {}
    for name, place in items:
        if name in seen:
            raise place.error(
                f"a second {what} '{name}' (the first is in line {seen[name].line})",
                "rename or remove one",
            )
        seen[name] = place


def _names(system: System) -> None:
    if not system.domains:
        raise system.place.error("<system> has no <vm> and no <process>", "add one")
    if len(system.domains) >= DOMAINS_MAX:
        raise system.domains[DOMAINS_MAX - 1].place.error(
            f"{len(system.domains)} domains", f"at most {DOMAINS_MAX - 1} are possible"
        )
    for domain in system.domains:
        if domain.name in _RESERVED:
            raise domain.place.error(
                f"'{domain.name}' is a name of the toolkit's own", "choose another name"
            )
    unique(((d.name, d.place) for d in system.domains), "domain")
    unique(((s.name, s.place) for s in system.shared), "shared block")
    unique(((e.name, e.place) for e in system.events), "event")


def _kernel(system: System, chip: Chip) -> None:
    kernel = system.kernel
    device = chip.devices.get(kernel.console or "")
    named = kernel.console is not None  # console="" names none, but isn't left out
    if named and (device is None or device.kind not in chip.console_drivers):
        uarts = [d.name for d in chip.devices.values() if d.kind in chip.console_drivers]
        raise kernel.place.error(
            f"console '{kernel.console}' is no UART of {chip.name}", f"known: {', '.join(uarts)}"
        )
    for domain in system.vms:
        if domain.vm is not None and domain.vm.writes_log and not kernel.console:
            raise domain.place.error(
                f"'{domain.name}' has log=\"write\", but nobody writes a log",
                'add console="..." to <kernel>',
            )
    if not 1 <= kernel.baud <= 4_000_000:
        raise kernel.place.error(f"baud {kernel.baud}", "choose 1200 to 4000000")
    if not 1 <= kernel.tick_hz <= 10_000:
        raise kernel.place.error(f"kernel tick {kernel.tick_hz} Hz", "choose 1Hz to 10kHz")
    if kernel.report_us * kernel.tick_hz < 1_000_000:
        raise kernel.place.error(
            f"report every {show_time(kernel.report_us)} is shorter than a kernel tick",
            "choose a longer time",
        )
    if kernel.report_us * kernel.tick_hz > TICKS_MAX * 1_000_000:
        raise kernel.place.error(
            f"report every {show_time(kernel.report_us)} is more kernel ticks than 31 bits hold",
            f"choose at most {show_time(TICKS_MAX * 1_000_000 // kernel.tick_hz)}",
        )
    if kernel.records not in _RECORDS:
        raise kernel.place.error(
            f"a log of {kernel.records} records", "choose 2, 4, 8, 16 or 32 of 52 bytes each"
        )
    for what, size in (
        ("flash", kernel.flash),
        ("ram", kernel.ram),
        ("hypervisor-flash", kernel.hypervisor_flash),
        ("hypervisor-ram", kernel.hypervisor_ram),
    ):
        if size < 1024:
            raise kernel.place.error(f'<kernel> has {what}="{show_size(size)}"', "at least 1K")


def _slice(system: System) -> None:
    """Only VMs have slices: a system without one isn't asked for a choice."""
    if not system.vms:
        return
    kernel = system.kernel
    fastest = max(d.vm.tick_hz for d in system.vms if d.vm is not None)
    longest = _SLICE_PERIODS * 1_000_000 // fastest
    if not 0 < kernel.slice_us <= longest:
        raise kernel.place.error(
            f"slice {show_time(kernel.slice_us)} with a fastest tick of {fastest} Hz",
            f"choose at most {show_time(longest)} ({_SLICE_PERIODS} tick periods)",
        )
    if kernel.slice_us * kernel.tick_hz < 1_000_000:
        raise kernel.place.error(
            f"slice {show_time(kernel.slice_us)} is shorter than a kernel tick, which is the least"
            " that a VM runs for",
            f"choose at least {show_time(-(-1_000_000 // kernel.tick_hz))}",
        )


def _shared(system: System) -> None:
    names = [d.name for d in system.domains]
    for shared in system.shared:
        if shared.size == 0:
            raise shared.place.error(f"shared block '{shared.name}' has size 0", "give it a size")
        unique(((u.domain, u.place) for u in shared.users), "<user> for domain")
        for user in shared.users:
            if user.domain not in names:
                raise user.place.error(f"no domain '{user.domain}'", f"known: {', '.join(names)}")


def _events(system: System) -> None:
    kinds = {d.name: d.kind for d in system.domains}
    for event in system.events:
        for role, name in (("from", event.sender), ("to", event.receiver)):
            if name not in kinds:
                raise event.place.error(
                    f"'{role}' of event '{event.name}': no domain '{name}'",
                    f"known: {', '.join(kinds)}",
                )
        if event.sender == event.receiver:
            raise event.place.error(
                f"event '{event.name}' goes from '{event.sender}' to itself",
                "inside a VM use virt_vct_trig",
            )
        if kinds[event.receiver] == "vm" and event.handler is None and event.at is None:
            raise event.place.error(
                f"event '{event.name}' to a VM has no handler", 'add handler="FUNCTION"'
            )
        if kinds[event.receiver] == "process" and event.handler is not None:
            raise event.place.error(
                f"event '{event.name}' to a process has a handler",
                "remove it: a process waits for FVM_CAP_" + event.name.upper(),
            )


def check_lines(system: System, chip: Chip) -> None:
    """Every line is claimed once, in the description as it is written."""
    console = chip.devices.get(system.kernel.console or "")
    names = console.interrupts if console else ()
    lines = {chip.interrupts[name]: "the log console" for name in names}
    for domain in system.domains:
        for irq in domain.irqs:
            number = chip.interrupts.get(irq.name)
            if number is not None:
                named = Named(irq.name, irq.place)
                _claim(lines, number, domain.name, named, f"interrupt '{irq.name}' ({number})")


def _devices(system: System) -> None:
    """Every device has one owner."""
    console = system.kernel.console
    devices: dict[str, str] = {console: "the log console"} if console else {}
    for domain in system.domains:
        for device in domain.devices:
            _claim(devices, device.name, domain.name, device, f"device '{device.name}'")


def _pins(system: System) -> None:
    """Every pin is set up once."""
    pins = [*system.kernel.pins, *(p for d in system.domains for p in d.pins)]
    pins.sort(key=lambda pin: (pin.place.line or 0, pin.place.column or 0))
    unique(((pin.name, pin.place) for pin in pins), "set-up of pin")


def _claim(owners: dict[_Key, str], key: _Key, domain: str, named: Named, what: str) -> None:
    if key in owners:
        raise named.place.error(
            f"{what} is claimed by {_who(owners[key])} and {_who(domain)}", "give it to one of them"
        )
    owners[key] = domain


def _who(name: str) -> str:
    return name if name.startswith("the ") else f"'{name}'"


def _clocks(system: System, chip: Chip) -> None:
    clocks = merged_clocks(system)
    problem = family_of(chip).clock_problem(clocks, chip)
    if problem:
        raise (clocks or system).place.error(*problem)
    cycles = family_of(chip).frequencies(clocks, chip).cpu / system.kernel.tick_hz
    if cycles > _LONGEST_TICK:
        least = -(-family_of(chip).frequencies(clocks, chip).cpu // _LONGEST_TICK)
        raise system.kernel.place.error(
            f"a kernel tick of {system.kernel.tick_hz} Hz takes {cycles:.0f} cycles, the timer"
            f" counts {_LONGEST_TICK}",
            f"choose at least {least}Hz",
        )
    if cycles < _SHORTEST_TICK:
        most = family_of(chip).frequencies(clocks, chip).cpu // _SHORTEST_TICK
        raise system.kernel.place.error(
            f"a kernel tick of {system.kernel.tick_hz} Hz takes {cycles:.0f} cycles, which the"
            " kernel would need for itself",
            f"choose at most {most}Hz, or a faster clock",
        )
