"""What an analysis says; every fact with what it is known by. Its JSON is these fields."""

from __future__ import annotations

from dataclasses import dataclass, field

Places = tuple[str, ...]
"""`file:line` below the project."""


@dataclass(frozen=True)
class Told:
    """A fact: `value` None where it isn't known; `by`: how it is known, or what would say it."""

    value: str | None
    by: str
    places: Places = ()


@dataclass(frozen=True)
class Memory:
    """A memory of the old chip in bytes; `used`: by the built program, None if nothing tells."""

    name: str
    size: int
    by: str
    origin: int | None = None


@dataclass(frozen=True)
class ChipFacts:
    """The chip that the project was written for; `others`: parts that other files name."""

    part: Told
    others: tuple[str, ...]
    memories: tuple[Memory, ...]
    flash_used: int | None
    ram_used: int | None
    used_by: str
    core: Told
    fpu: Told


@dataclass(frozen=True)
class BuildFacts:
    """How it is built: `files` are compiled, `unread` lie beside them in the tree."""

    told_by: Told
    toolchain: Told
    standard: Told
    files: int
    languages: tuple[str, ...]
    unread: int


@dataclass(frozen=True)
class RtosFacts:
    """The RTOS; `tried`: whether ports of this version were made and proved, None: nobody knows."""

    name: Told
    version: Told
    tried: bool | None = None


@dataclass(frozen=True)
class Vector:
    """An exception with a handler of the project's own; `number` None where no table was found;
    `conditions`: those of #if around it, where no compiler said whether they hold."""

    number: int | None
    handler: str
    place: str
    conditions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Device:
    """A block of registers; `dma`: where its transfers are left to a DMA controller."""

    name: str
    address: int | None
    places: Places
    dma: Places = ()


@dataclass(frozen=True)
class Stream:
    """A channel of a DMA controller and the device that it serves, "" where nothing says it."""

    name: str
    place: str
    device: str = ""


@dataclass(frozen=True)
class Count:
    """How often something is there, and a place or several."""

    what: str
    count: int
    places: Places = ()


@dataclass(frozen=True)
class Switch:
    """A function of the context switch: `status` rewritten or escalated."""

    name: str
    role: str
    place: str
    status: str
    reason: str


@dataclass(frozen=True)
class Work:
    """What needs a person: how many places, why, what to do about it."""

    what: str
    count: int
    reason: str
    remedy: str = ""
    places: Places = ()


@dataclass(frozen=True)
class PortFacts:
    """What a port would do: places `found`, those `rewritten` and `left` by rule, `later`: those
    that the description decides, `person`: those that somebody must look at, by rule.
    `is_drafted`: judged with the description that init would draft, else without any."""

    is_drafted: bool
    found: int
    rewritten: tuple[Count, ...]
    left: tuple[Count, ...]
    later: int
    person: tuple[Work, ...]


@dataclass(frozen=True)
class Analysis:
    """All of it. `unsupported`: what no virtual machine offers; `unread`: what couldn't be read or
    told; `questions`: what init's draft would ask; `next`: commands to type."""

    project: str
    chip: ChipFacts
    build: BuildFacts
    rtos: RtosFacts
    tick: Told
    clock: Told
    vectors: tuple[Vector, ...]
    devices: tuple[Device, ...]
    streams: tuple[Stream, ...]
    sections: tuple[Count, ...]
    masks: tuple[Count, ...]
    mask_sites: tuple[Count, ...]
    switches: tuple[Switch, ...]
    assembler: tuple[Count, ...]
    port: PortFacts
    unsupported: tuple[Work, ...]
    unread: tuple[Work, ...]
    questions: tuple[str, ...] = ()
    next: tuple[str, ...] = field(default=())

    @property
    def needs_person(self) -> bool:
        """Whether anything is left for a person, or couldn't be read."""
        return bool(self.port.person or self.unsupported or self.unread)
