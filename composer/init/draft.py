"""The system that the projects make together: who keeps what several want, clocks, the log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import lcm
from pathlib import PurePosixPath

from composer.chips.chip import Board, Chip
from composer.init.clock_choice import choose_clocks
from composer.init.console import Console, choose_console
from composer.init.facts import ClockTree, Decision, Line, PinUse, Places, ProjectFacts, Use
from composer.init.sizes import Sizes, suggest

_FASTEST = 10_000  # Hz
_USUAL_TICK = 1000
_PERIODS = 5  # ticks in a slice
_LONGEST_SLICE = 5000  # us


@dataclass(frozen=True)
class Lost:
    """What a machine uses and another one keeps. `instead`: devices of its kind that are free."""

    what: str
    owner: str
    owner_places: Places
    places: Places
    devices: tuple[Use, ...]
    lines: tuple[Line, ...]
    pins: tuple[PinUse, ...]
    instead: tuple[str, ...] = ()


@dataclass(frozen=True)
class Machine:
    """One virtual machine of the draft."""

    facts: ProjectFacts
    sizes: Sizes
    tick_hz: int
    devices: tuple[Use, ...]
    clocks: tuple[Use, ...]
    lines: tuple[Line, ...]
    pins: tuple[PinUse, ...]
    lost: tuple[Lost, ...]
    decisions: tuple[Decision, ...]


@dataclass(frozen=True)
class Draft:
    """Everything that is written."""

    name: str
    chip: Chip
    board: Board | None
    machines: tuple[Machine, ...]
    clocks: ClockTree
    clock_decisions: tuple[Decision, ...]
    console: Console
    tick_hz: int
    slice_us: int
    decisions: tuple[Decision, ...]

    def all_decisions(self) -> Iterator[tuple[str, Decision]]:
        """Each with whose it is."""
        for decision in (*self.clock_decisions, *self.decisions):
            yield "", decision
        for machine in self.machines:
            for decision in (*machine.decisions, *machine.sizes.decisions):
                yield machine.facts.name, decision
            for lost in machine.lost:
                yield machine.facts.name, lost_decision(lost)


def lost_decision(lost: Lost) -> Decision:
    """A conflict in words."""
    here, there = ", ".join(lost.places), ", ".join(lost.owner_places)
    text = f"{lost.what} is used here ({here}) and by {lost.owner} ({there}), which keeps it"
    return Decision(text, lost.places)


def draft(
    name: str, chip: Chip, board: Board | None, projects: Sequence[ProjectFacts]
) -> Draft:  # fmt: skip
    """Share the chip out: whoever is named first keeps what several use."""
    tick, decisions = _kernel_tick(projects)
    owners: dict[str, ProjectFacts] = {}
    machines = []
    for project, sizes in zip(projects, suggest(projects, chip), strict=True):
        machines.append(_machine(project, sizes, tick, owners, chip))
    clocks, clock_decisions = choose_clocks(projects, chip)
    console, more = choose_console(chip, board, projects)
    machines = [_with_choices(machine, machines, console.device, chip) for machine in machines]
    fastest = max((m.tick_hz for m in machines), default=tick)
    return Draft(
        name, chip, board, tuple(machines), clocks, tuple(clock_decisions), console, tick,
        min(_LONGEST_SLICE, _PERIODS * 1_000_000 // fastest), (*decisions, *more),
    )  # fmt: skip


def _with_choices(
    machine: Machine, machines: Sequence[Machine], console: str, chip: Chip
) -> Machine:
    """A machine that knows what it could use instead of a device that another one keeps."""
    used = {console, *(use.name for other in machines for use in other.facts.devices)}
    lost = []
    for one in machine.lost:
        kinds = {chip.devices[device.name].kind for device in one.devices}
        free = (d.name for d in chip.devices.values() if d.kind in kinds and not d.nobody)
        lost.append(replace(one, instead=tuple(name for name in free if name not in used)))
    return replace(machine, lost=tuple(lost))


def _kernel_tick(projects: Sequence[ProjectFacts]) -> tuple[int, list[Decision]]:
    rates = [p.tick_hz for p in projects if p.tick_hz]
    for together in (lcm(_USUAL_TICK, *rates), lcm(*rates) if rates else _USUAL_TICK):
        if together <= _FASTEST:
            return together, []
    words = ", ".join(f"{p.name} {p.tick_hz} Hz ({', '.join(p.tick_places)})" for p in projects)
    fastest = min(_FASTEST, max(rates))
    return fastest, [Decision(f"no kernel tick up to 10 kHz is a multiple of all: {words}")]


def _machine(
    project: ProjectFacts,
    sizes: Sizes,
    kernel_tick: int,
    owners: dict[str, ProjectFacts],
    chip: Chip,
) -> Machine:
    lost: list[Lost] = []
    gone_devices: set[str] = set()
    gone_lines: set[str] = set()
    gone_pins: set[str] = set()
    for device in project.devices:
        owner = owners.setdefault(f"device {device.name}", project)
        if owner is not project:
            lines = tuple(line for line in project.lines if belongs(line.name, device.name))
            pins = tuple(p for p in project.pins if _carries(chip, p, device.name))
            pins = tuple(p for p in pins if owners.get(f"pin {p.name}") is owner)
            gone_devices.add(device.name)
            gone_lines |= {line.name for line in lines}
            gone_pins |= {pin.name for pin in pins}
            theirs = next(d for d in owner.devices if d.name == device.name).places
            lost.append(
                Lost(device.name, owner.name, theirs, device.places, (device,), lines, pins)
            )
    for line in project.lines:
        owner = owners.setdefault(f"line {line.name}", project)
        if owner is not project and line.name not in gone_lines:
            gone_lines.add(line.name)
            theirs = next(other for other in owner.lines if other.name == line.name).places
            what = f"interrupt {line.name}"
            lost.append(Lost(what, owner.name, theirs, line.places, (), (line,), ()))
    for pin in project.pins:
        owner = owners.setdefault(f"pin {pin.name}", project)
        if owner is not project and pin.name not in gone_pins:
            gone_pins.add(pin.name)
            theirs = next(other for other in owner.pins if other.name == pin.name).places
            lost.append(Lost(f"pin {pin.name}", owner.name, theirs, pin.places, (), (), (pin,)))
    tick = project.tick_hz or _USUAL_TICK
    decisions = list(project.decisions)
    if project.tick is not None and project.tick_hz is None:
        decisions.append(Decision("the rate of SysTick isn't known: set tick"))
    if kernel_tick % tick:
        decisions.append(
            Decision(f"its tick of {tick} Hz is no divisor of the kernel's", project.tick_places)
        )
        tick = kernel_tick
    return Machine(
        project, sizes, tick,
        tuple(d for d in project.devices if d.name not in gone_devices),
        tuple(c for c in project.clocks if c.name not in gone_devices),
        tuple(n for n in project.lines if n.name not in gone_lines),
        tuple(p for p in project.pins if p.name not in gone_pins),
        tuple(lost), tuple(decisions),
    )  # fmt: skip


def _carries(chip: Chip, pin: PinUse, device: str) -> bool:
    """Whether a pin is set up for a signal of a device."""
    signals = chip.pins[pin.name].get(str(pin.alternate), [])
    return any(signal.startswith(f"{device}_") for signal in signals)


def belongs(line: str, device: str) -> bool:
    """Whether an interrupt is of a device, by its name: I2C1_EV of I2C1, TIM1_UP_TIM10 of TIM10."""
    return device in line.split("_") or line == device


def files_of(places: Places) -> tuple[str, ...]:
    """C files among places."""
    names = dict.fromkeys(place.rpartition(":")[0] for place in places)
    return tuple(name for name in names if PurePosixPath(name).suffix == ".c")
