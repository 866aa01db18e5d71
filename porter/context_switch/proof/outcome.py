"""What one run of a handler in the emulator leaves behind."""

from __future__ import annotations

from dataclasses import dataclass, field


class Stray(Exception):
    """The state made the handler access memory that isn't there."""


class Broken(Exception):
    """What no handler may do; str() says what."""


@dataclass(frozen=True)
class Event:
    """A call, or what stands for one."""

    name: str
    arguments: tuple[int, ...]
    memory: bytes
    masks: tuple[bool, bool]
    in_vct: bool = False  # in what VCT runs of a start, where handlers don't nest


@dataclass(frozen=True)
class FirstTask:
    """A task that is resumed for the first time: SP, r4-r11, and the words r0, r1, r2, r3, r12, lr,
    pc and xPSR that it begins with. `saved`: what lies below those on its stack, the nearest word
    first. The original doesn't load xPSR: it is the word beside the pc that it did load. `fpscr`:
    the modes of a task that begins with FPU state; None without."""

    sp: int
    core: tuple[int, ...]
    frame: tuple[int, ...]
    saved: tuple[int, ...]
    fpscr: int | None = None


@dataclass
class Outcome:
    """What a run left behind. `context`: r4-r11, EXC_RETURN, PSP, S16-S31. `ended`: by an event
    behind which original and port need no comparison. `first`: the task that a start goes to.
    `last` is the address of the last instruction."""

    context: list[int] = field(default_factory=list)
    memory: bytes = b""
    masks: tuple[bool, bool] = (False, False)
    events: list[Event] = field(default_factory=list)
    ended: bool = False
    result: int = 0
    steps: set[tuple[int, int]] = field(default_factory=set)  # (instruction, what ran next)
    count: int = 0  # instructions
    first: FirstTask | None = None
    last: int = 0
