"""The system that the projects make together: who keeps what several want, clocks, the log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import lcm
from pathlib import PurePosixPath

from composer.chips.chip import Board, Chip
from composer.init.claims import Claims, Lost, lost_decision
from composer.init.clock_choice import choose_clocks
from composer.init.console import Console, choose_console
from composer.init.facts import ClockTree, Decision, Line, PinUse, Places, ProjectFacts, Use
from composer.init.sizes import Sizes, suggest

_FASTEST = 10_000  # Hz
_USUAL_TICK = 1000
_PERIODS = 5  # ticks in a slice
_LONGEST_SLICE = 5000  # us


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


def draft(
    name: str, chip: Chip, board: Board | None, projects: Sequence[ProjectFacts]
) -> Draft:  # fmt: skip
    """Share the chip out: whoever is named first keeps what several use."""
    tick, decisions = _kernel_tick(projects)
    claims = Claims(chip)
    machines = []
    for project, sizes in zip(projects, suggest(projects, chip), strict=True):
        machines.append(_machine(project, sizes, tick, claims))
    clocks, clock_decisions = choose_clocks(projects, chip)
    console, more = choose_console(chip, board, projects)
    machines = [
        _with_choices(machine, machines, console.device, chip, claims) for machine in machines
    ]
    fastest = max((m.tick_hz for m in machines), default=tick)
    return Draft(
        name, chip, board, tuple(machines), clocks, tuple(clock_decisions), console, tick,
        min(_LONGEST_SLICE, _PERIODS * 1_000_000 // fastest), (*decisions, *more),
    )  # fmt: skip


def _with_choices(
    machine: Machine, machines: Sequence[Machine], console: str, chip: Chip, claims: Claims
) -> Machine:
    """A machine that knows what it could use instead of a device that another one keeps."""
    used = {console, *(use.name for other in machines for use in other.facts.devices)}
    lost = []
    for one in machine.lost:
        kinds = {chip.devices[device.name].kind for device in one.devices}
        free = [d.name for d in chip.devices.values() if d.kind in kinds and not d.nobody]
        instead = (n for n in free if n not in used and (not one.tied or claims.is_alone(n)))
        lost.append(replace(one, instead=tuple(instead)))
    return replace(machine, lost=tuple(lost))


def _kernel_tick(projects: Sequence[ProjectFacts]) -> tuple[int, list[Decision]]:
    rates = [p.tick_hz for p in projects if p.tick_hz]
    own = lcm(*rates) if rates else _USUAL_TICK
    for together in (lcm(_USUAL_TICK, own), own * -(-_USUAL_TICK // own)):
        if together <= _FASTEST:
            return together, []
    words = ", ".join(f"{p.name} {p.tick_hz} Hz ({', '.join(p.tick_places)})" for p in projects)
    fastest = min(_FASTEST, max(rates))
    return fastest, [Decision(f"no kernel tick up to 10 kHz is a multiple of all: {words}")]


def _machine(
    project: ProjectFacts,
    sizes: Sizes,
    kernel_tick: int,
    claims: Claims,
) -> Machine:
    lost = claims.lost_by(project)
    gone_devices = {device.name for one in lost for device in one.devices}
    gone_lines = {line.name for one in lost for line in one.lines}
    gone_pins = {pin.name for one in lost for pin in one.pins}
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
        lost, tuple(decisions),
    )  # fmt: skip


def files_of(places: Places) -> tuple[str, ...]:
    """C files among places."""
    names = dict.fromkeys(place.rpartition(":")[0] for place in places)
    return tuple(name for name in names if PurePosixPath(name).suffix == ".c")
