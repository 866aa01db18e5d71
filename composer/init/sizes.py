"""Sizes for a first description: what a program needs with some room, rounded so that a protection
region loses nothing; where nothing is built, an equal share of the chip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from composer.chips.chip import Chip
from composer.description.units import show_size
from composer.init.facts import Decision, ProjectFacts

KERNEL_FLASH, KERNEL_RAM = 24 << 10, 8 << 10
HYPERVISOR_FLASH, HYPERVISOR_RAM = 16 << 10, 4 << 10
_ROOM = 5, 4  # a quarter more than what is used
_GUEST_FLASH = 3 << 10  # the guest library and the generated start-up
_STATE = 512
_SMALLEST_FLASH, _SMALLEST_RAM = 8 << 10, 4 << 10
_TASKS_STACK = 1 << 10  # with an RTOS, main's stack is used until the scheduler starts
_MAIN_STACK = 2 << 10
_HANDLER_STACK = 1 << 10
_UNKNOWN_HEAP = 4 << 10


@dataclass(frozen=True)
class Sizes:
    """Bytes of one domain."""

    flash: int
    ram: int
    heap: int
    usr_stack: int
    vct_stack: int
    reason: str
    decisions: tuple[Decision, ...]


def suggest(projects: Sequence[ProjectFacts], chip: Chip) -> list[Sizes]:
    """Sizes of each project's virtual machine."""
    flash = chip.bank("flash").size - KERNEL_FLASH - HYPERVISOR_FLASH
    ram = chip.bank("ram").size - KERNEL_RAM - HYPERVISOR_RAM
    built = {p.name: _built(p) for p in projects if p.memory.flash is not None}
    flash -= sum(sizes.flash for sizes in built.values())
    ram -= sum(sizes.ram for sizes in built.values())
    others = len(projects) - len(built)
    found = []
    for project in projects:
        sizes = built.get(project.name)
        found.append(sizes or _share(project, flash // others, ram // others))
    return found


def rounded(size: int, smallest: int) -> int:
    """The next size that is five to eight eighths of a power of two."""
    power = smallest
    while power < size:
        power *= 2
    candidates = [power // 8 * eighths for eighths in (5, 6, 7, 8)] if power > smallest else [power]
    return next(candidate for candidate in candidates if candidate >= size)


def _down(size: int, smallest: int) -> int:
    """The last such size that is no larger."""
    best = power = smallest
    while power // 2 < size:
        for eighths in (5, 6, 7, 8):
            if smallest <= power // 8 * eighths <= size:
                best = max(best, power // 8 * eighths)
        power *= 2
    return best


def _stacks(project: ProjectFacts) -> tuple[int, int]:
    least = _TASKS_STACK if project.has_tasks else _MAIN_STACK
    wanted = max(least, project.memory.stack or 0)
    return -(-wanted // 8) * 8, _HANDLER_STACK


def _heap(project: ProjectFacts) -> tuple[int, tuple[Decision, ...]]:
    memory = project.memory
    if not memory.allocates:
        return 0, ()
    if memory.heap:
        return memory.heap, ()
    text = "the program calls malloc(), and no linker script says how large the heap must be"
    return _UNKNOWN_HEAP, (Decision(text, (memory.heap_place,) if memory.heap_place else ()),)


def _built(project: ProjectFacts) -> Sizes:
    usr, vct = _stacks(project)
    heap, decisions = _heap(project)
    more, of = _ROOM
    memory = project.memory
    flash = (memory.flash or 0) * more // of + _GUEST_FLASH
    ram = ((memory.ram or 0) + heap + usr + vct + _STATE) * more // of
    reason = (
        f"{memory.elf} uses {memory.flash} bytes of flash and {memory.ram} of RAM without stack"
        " and heap; a quarter was added"
    )
    return Sizes(
        rounded(flash, _SMALLEST_FLASH), rounded(ram, _SMALLEST_RAM), heap, usr, vct, reason,
        decisions,
    )  # fmt: skip


def _share(project: ProjectFacts, flash: int, ram: int) -> Sizes:
    """A program of which no size is known: what there is, but no more than its chip had."""
    usr, vct = _stacks(project)
    heap, decisions = _heap(project)
    regions = project.memory.regions
    own_flash = max((r.length for r in regions if r.origin < 0x2000_0000), default=flash)
    own_ram = max((r.length for r in regions if r.origin >= 0x2000_0000), default=ram)
    given = [
        f"{region.name} {show_size(region.length)} ({region.place})" for region in regions
    ]  # fmt: skip
    reason = "nothing is built yet" + (
        f"; its linker script has {', '.join(given)}" if given else ""
    )
    # Half of a share is left free: sizes of powers of two don't always fit side by side.
    decision = Decision(
        "sizes are a share of the chip: build the project and run init again, or build this system"
        " and compose again, which says what is used"
    )
    return Sizes(
        _down(min(flash * 3 // 4, own_flash), _SMALLEST_FLASH),
        _down(min(ram * 3 // 4, own_ram), _SMALLEST_RAM),
        heap, usr, vct, reason, (*decisions, decision),
    )  # fmt: skip
