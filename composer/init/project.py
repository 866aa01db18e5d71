"""One project, read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from composer.chips.chip import Chip
from composer.init.build_facts import build_of
from composer.init.devices import uses_of
from composer.init.elf_vectors import vectors_of
from composer.init.facts import ClockTree, Decision, PinUse, Places, ProjectFacts, shown
from composer.init.foreign import explain, guessed
from composer.init.interrupts import Interrupts
from composer.init.memory import built_elf, memory_of
from composer.init.other_chip import named_blocks
from composer.init.stm32f4 import clock_tree, core_clock, pins_of, silicon, watchdog
from porter.execution.survey import Survey, survey
from porter.execution.words import Value, as_word, number
from porter.project.build import Build
from porter.project.compiler_command import is_for_riscv
from porter.project.vectors import FIRST_IRQ
from scanner.report.errors import FvmError

_LOAD, _CTRL = 0xE000_E014, 0xE000_E010
_ENABLE, _CLKSOURCE = 1, 4
_FASTEST = 10_000  # Hz: the kernel's own limit
_EXTERNAL_DIVIDER = 8
_NO_NAME = re.compile(r"[^a-z0-9]+")


def read_project(
    folder: Path, chip: Chip, progress: Callable[[str], None] = lambda _message: None
) -> ProjectFacts:
    """All that a description needs of a project. Raises FvmError when nothing can be read."""

    def vectors(build: Build) -> Mapping[int, str]:
        elf = built_elf(folder, build)
        return vectors_of(elf.path, FIRST_IRQ + chip.lines) if elf else {}

    found = survey(folder, silicon(chip), vectors, progress)
    if not found.program.units:
        raise explain(folder, found)
    if is_for_riscv(found.build.options):
        raise FvmError(
            f"is compiled for RISC-V ({' '.join(found.build.options.cpu_flags)}), and {chip.name} "
            "is an Arm chip",
            file=folder,
            hint="init drafts systems of one Arm chip; `fvmkit port` takes RISC-V projects",
        )
    build, decisions = build_of(found)
    if not found.build.units:
        decisions.insert(0, guessed(folder))
    memory, more = memory_of(found, built_elf(folder, found.build))
    decisions += more
    named = named_blocks(found, chip)
    interrupts = Interrupts(found, chip)
    system, lines = interrupts.system_handlers, interrupts.lines(named.is_other_chip)
    devices, clocks, more = uses_of(found, chip, named)
    decisions = named.told(chip) + decisions + interrupts.decisions + more
    every = [pin for pin in pins_of(found, chip) if named.may_be(f"GPIO{pin.port}")]
    pins = [pin for pin in every if pin.name in chip.pins]
    decisions += _missing([pin for pin in every if pin.name not in chip.pins], chip)
    decisions += _unknown([pin for pin in pins if not pin.is_known])
    pins = [pin for pin in pins if pin.is_known]
    decisions += _without_function([pin for pin in pins if not _has_function(pin, chip)], chip)
    pins = [pin for pin in pins if _has_function(pin, chip)]
    tree = clock_tree(found, chip) if named.may_be("RCC") else None
    tick_hz, tick_places = _tick(found, chip, tree)
    timeout, watchdog_places = watchdog(found, chip) if named.may_be("IWDG") else (None, ())
    if timeout == 0:
        decisions.append(
            Decision("the watchdog is started with a time that isn't known", watchdog_places)
        )
    if not found.has_main:
        decisions.append(Decision("no main() was found, so what runs at start isn't known"))
    elif not found.record.complete:
        decisions.append(
            Decision("main() is too long to follow to its end: look for what is missing")
        )
    decisions += _unclear(found)
    return ProjectFacts(
        vm_name(folder), folder.resolve(), build, memory,
        system.get("switch"), system.get("tick"), system.get("svc"), interrupts.has_tasks(),
        tick_hz, tick_places, timeout or None, watchdog_places,
        tuple(devices), tuple(clocks), tuple(lines), tuple(pins), tree,
        tuple(dict.fromkeys(decisions)),
    )  # fmt: skip


def vm_name(folder: Path) -> str:
    """A folder's name as a description can have it."""
    name = _NO_NAME.sub("-", folder.resolve().name.lower()).strip("-")
    return (name if name[:1].isalpha() else f"vm-{name}".rstrip("-"))[:23].rstrip("-")


def renamed(facts: ProjectFacts, name: str) -> ProjectFacts:
    """The same project under another name."""
    return replace(facts, name=name)


def _tick(found: Survey, chip: Chip, tree: ClockTree | None) -> tuple[int | None, Places]:
    """Rate of SysTick: from the last reload value that gives a sensible rate, else by its name."""
    clocks = [int(chip.clock_limits["hsi"])]
    if (stated := core_clock(found)) is not None:
        clocks.insert(0, stated)
    if tree is not None:
        clocks.insert(0, tree.clocks.root_hz(clocks[-1]) // tree.clocks.ahb)
    internal = counts_core_clock([write.value for write in found.record.to(_CTRL)])
    for write in reversed(found.record.to(_LOAD)):
        load = number(write.value)
        for clock in clocks if load is not None else ():
            rate = clock if internal else clock // _EXTERNAL_DIVIDER
            hertz = round(rate / ((load or 0) + 1))
            if 1 <= hertz <= _FASTEST:
                return hertz, (shown(write.where, found.root),)
    return found.program.define("configTICK_RATE_HZ"), ()


def counts_core_clock(controls: Sequence[Value]) -> bool:
    """Whether the timer runs with CLKSOURCE set, by what CTRL held last while it ran."""
    words = [word for word in map(as_word, controls) if word is not None]
    running = [word for word in words if word.value & word.known & _ENABLE]
    if not running:
        return True
    return not running[-1].known & _CLKSOURCE or bool(running[-1].value & _CLKSOURCE)


def _missing(pins: list[PinUse], chip: Chip) -> list[Decision]:
    """Pins of the old chip that this one's package hasn't; analog is what unused ones are made."""
    return [
        Decision(
            f"{names}: {chip.name} has no such pin; choose another for what is wired to it, and"
            " write it as <pin>",
            places,
        )
        for names, places in _by_place([pin for pin in pins if pin.mode != "analog"])
    ]


def _unknown(pins: list[PinUse]) -> list[Decision]:
    """Pins of which the mode isn't known."""
    return [
        Decision(f"{names}: set up in a way that isn't known", places)
        for names, places in _by_place(pins)
    ]


def _has_function(pin: PinUse, chip: Chip) -> bool:
    return pin.alternate is None or str(pin.alternate) in chip.pins[pin.name]


def _without_function(pins: list[PinUse], chip: Chip) -> list[Decision]:
    """Pins that code connects to a block by a number under which this chip has none."""
    return [
        Decision(
            f"{pin.name}: {chip.name} has no alternate function {pin.alternate} there; where a"
            " block has the pin without one, as USB has VBUS, leave it out, else write it as <pin>",
            pin.places,
        )
        for pin in pins
    ]


def _by_place(pins: list[PinUse]) -> list[tuple[str, Places]]:
    """Names of pins, together where one line sets them up."""
    by_place: dict[Places, list[str]] = {}
    for pin in pins:
        by_place.setdefault(pin.places, []).append(pin.name)
    return [(", ".join(names), places) for places, names in by_place.items()]


def _unclear(found: Survey) -> list[Decision]:
    """Writes to registers of a block that isn't known, and what libraries without sources do."""
    decisions = []
    places = tuple(dict.fromkeys(shown(where, found.root) for where in found.record.unclear))
    if places:
        decisions.append(Decision("which registers these lines write isn't known", places[:4]))
    if found.record.missing:
        names = list(found.record.missing)[:4]
        first = tuple(shown(found.record.missing[name], found.root) for name in names)
        text = f"what {', '.join(names)} set up isn't known: their sources aren't in the project"
        decisions.append(Decision(text, first))
    return decisions
