"""What is known of one project, each fact with the line that it comes from."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from composer.chips.chip import Chip
from composer.description.model import Clocks
from porter.execution.program import Where

Places = tuple[str, ...]
"""`file:line`, as a person would look it up; paths start from the project."""


@dataclass(frozen=True)
class Use:
    """A device, clock or line that the code uses."""

    name: str
    places: Places


@dataclass(frozen=True)
class Line:
    """An interrupt with its handler. `priority` is the NVIC's byte; `transparent`: it is more
    urgent than the BASEPRI threshold."""

    name: str
    handler: str
    places: Places
    priority: int | None
    transparent: bool


@dataclass(frozen=True)
class PinUse:
    """A pin as the code sets it up; None where it isn't known."""

    port: str
    number: int
    mode: str | None
    alternate: int | None
    pull: str
    speed: str
    output: str
    places: Places

    @property
    def name(self) -> str:
        """PA9."""
        return f"P{self.port}{self.number}"

    @property
    def is_known(self) -> bool:
        """Whether a description can say how it is set up."""
        return self.mode is not None and (self.mode != "alternate" or self.alternate is not None)


@dataclass(frozen=True)
class ClockTree:
    """The clocks that the code sets up, and where; `guessed` says why a person must look, if so."""

    clocks: Clocks
    places: Places
    guessed: str = ""


@dataclass(frozen=True)
class Region:
    """One entry of a linker script's MEMORY command."""

    name: str
    origin: int
    length: int
    place: str


@dataclass(frozen=True)
class MemoryUse:
    """`flash` and `ram`: bytes that the built program takes, without stack and heap; None if
    nothing is built. `stack` and `heap` are what the linker script keeps free."""

    regions: tuple[Region, ...]
    elf: str | None
    flash: int | None
    ram: int | None
    stack: int | None
    heap: int | None
    heap_place: str
    allocates: bool


@dataclass(frozen=True)
class BuildFacts:
    """Sources and options, relative to `root`, which holds all of them."""

    root: Path
    source: str
    complete: bool
    sources: tuple[str, ...]
    includes: tuple[str, ...]
    defines: tuple[str, ...]
    startup: tuple[str, ...]
    entry: str
    main_file: str | None
    standard: str | None
    fpu: bool
    language: tuple[str, ...]
    cxx_standard: str | None = None
    cxx_flags: tuple[str, ...] | None = None
    """What its C++ is compiled with; None for a project without."""
    optimize: str = ""
    preprocess: bool = False
    """Whether its files named .s go through the preprocessor."""


@dataclass(frozen=True)
class Decision:
    """Something that a person must decide, with the evidence."""

    text: str
    places: Places = ()

    def __str__(self) -> str:
        if not self.places or self.places[0] in self.text:
            return self.text
        return f"{self.text} ({', '.join(self.places)})"


@dataclass(frozen=True)
class ProjectFacts:
    """One project. `has_tasks`: its switch handler does something. `decisions` are those that
    concern it alone."""

    name: str
    folder: Path
    build: BuildFacts
    memory: MemoryUse
    switch: str | None
    tick: str | None
    svc: str | None
    has_tasks: bool
    tick_hz: int | None
    tick_places: Places
    watchdog_us: int | None
    watchdog_places: Places
    devices: tuple[Use, ...]
    clocks: tuple[Use, ...]
    lines: tuple[Line, ...]
    pins: tuple[PinUse, ...]
    clock_tree: ClockTree | None
    decisions: tuple[Decision, ...] = field(default=())


def shown(where: Where, root: Path) -> str:
    """A line as `file:line` below the project, or with its whole path."""
    path = Path(os.path.normpath(where.file))
    inside = path.is_relative_to(root)
    return f"{path.relative_to(root).as_posix() if inside else path}:{where.line}"


def device_at(chip: Chip, address: int) -> str | None:
    """The block that holds an address."""
    for device in chip.devices.values():
        if device.base <= address < device.base + device.size:
            return device.name
    return None
