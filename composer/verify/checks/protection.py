"""Do the protection tables grant each domain what the description says, and nothing else?"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from composer.verify.findings import span
from composer.verify.mpu import Area, Decoded, Rights, decode
from composer.verify.subject import Subject

FPU_FOR_ALL = 0x00F00000  # CPACR: CP10 and CP11, privileged and not
PRIVATE_BUS = (0xE0000000, 0xE0100000)

# Memory types, as bits TEX S C B (Armv7-M ARM, B3.5.10).
FLASH = 0b000_0_1_0  # normal, write-through
SRAM = 0b000_1_1_0  # the same, shareable
DEVICES = (0b000_0_0_1, 0b000_1_0_1)  # shareable device, whatever S says

CODE = Rights("r", "r", True, FLASH)
DATA = Rights("rw", "rw", False, SRAM)
SEEN = Rights("rw", "r", False, SRAM)
DEVICE = tuple(Rights("rw", "rw", False, memory) for memory in DEVICES)


@dataclass(frozen=True)
class Want:
    """A range that must be granted with one of these rights."""

    what: str
    start: int
    end: int
    rights: tuple[Rights, ...]


def decoded(subject: Subject) -> tuple[Decoded, ...]:
    """The regions of every domain."""
    return tuple(decode(domain.regions) for domain in subject.tables.domains)


def check_regions(subject: Subject) -> Iterator[str]:
    """The register values themselves: each is one that the architecture defines."""
    for name, unit in zip(subject.expected.names, decoded(subject), strict=True):
        for problem in unit.problems:
            yield f"'{name}': {problem}"


def wants(subject: Subject, index: int) -> list[Want]:
    """What a domain has for itself: flash, RAM, devices."""
    row, domain = subject.tables.domains[index], subject.expected.domains[index]
    found = [
        Want("its flash", row.flash_base, row.flash_end, (CODE,)),
        Want("its RAM", row.ram_base, row.ram_end, (DATA,)),
    ]
    for name in domain.devices:
        device = subject.chip.devices[name]
        found.append(Want(name, device.base, device.base + device.size, DEVICE))
    return found


def check_grants(subject: Subject) -> Iterator[str]:
    """Own flash, RAM and devices are granted as they should be, shared blocks exactly as well."""
    left: list[list[Area]] = []
    for index, unit in enumerate(decoded(subject)):
        name, areas = subject.expected.names[index], list(unit.areas)
        for want in wants(subject, index):
            yield from (f"'{name}': {text}" for text in _missing(want, areas))
            areas = _without(areas, want.start, want.end)
        left.append(areas)
    yield from _shared(subject, left)


def _missing(want: Want, areas: Iterable[Area]) -> Iterator[str]:
    position = want.start
    for area in areas:
        start, end = max(area.start, want.start), min(area.end, want.end)
        if start >= end:
            continue
        if start > position:
            yield f"{want.what}: {span(position, start)} isn't granted"
        if area.rights not in want.rights:
            yield f"{want.what}: {span(start, end)} is granted as {area.rights}"
        position = end
    if position < want.end:
        yield f"{want.what}: {span(position, want.end)} isn't granted"


def _without(areas: Iterable[Area], start: int, end: int) -> list[Area]:
    found = []
    for area in areas:
        for low, high in ((area.start, min(area.end, start)), (max(area.start, end), area.end)):
            if low < high:
                found.append(Area(low, high, area.rights))
    return found


def _shared(subject: Subject, left: list[list[Area]]) -> Iterator[str]:
    """What is left must be the shared blocks: the same range for all users and nobody else."""
    bank = subject.expected.bank("ram")
    taken = [subject.ram_of(name) for name in subject.part_names]
    found: dict[tuple[tuple[int, str], ...], list[tuple[int, int]]] = {}
    for start, end, users in _atoms(left):
        names = " and ".join(f"'{subject.expected.names[i]}'" for i, _ in users)
        access = []
        for index, rights in users:
            if rights not in (DATA, SEEN):
                name = subject.expected.names[index]
                yield f"'{name}': {span(start, end)} is granted as {rights}"
            access.append((index, rights.domain))
        ours = any(start < area.stop and area.start < end for area in taken)
        if ours or not bank.base <= start < end <= bank.base + bank.size:
            yield f"{names}: {span(start, end)} is granted and is no shared block's memory"
            continue
        found.setdefault(tuple(access), []).append((start, end))
    yield from _blocks(subject, found)


def _atoms(left: list[list[Area]]) -> Iterator[tuple[int, int, list[tuple[int, Rights]]]]:
    """Ranges with the same users and rights all over, ascending; neighbours are joined."""
    borders = sorted({b for areas in left for area in areas for b in (area.start, area.end)})
    last: tuple[int, int, list[tuple[int, Rights]]] | None = None
    for start, end in itertools.pairwise(borders):
        users = [
            (index, area.rights)
            for index, areas in enumerate(left)
            for area in areas
            if area.start <= start and end <= area.end
        ]
        if last and last[1] == start and last[2] == users:
            last = (last[0], end, users)
            continue
        if last and last[2]:
            yield last
        last = (start, end, users)
    if last and last[2]:
        yield last


def _blocks(
    subject: Subject, found: dict[tuple[tuple[int, str], ...], list[tuple[int, int]]]
) -> Iterator[str]:
    """Every described block has its memory, and no other memory is shared."""
    names = subject.expected.names
    sizes: dict[tuple[tuple[int, str], ...], list[int]] = {}
    for block in subject.expected.blocks:
        if block.access:
            sizes.setdefault(tuple(sorted(block.access)), []).append(block.size)
    for access in sorted({*found, *sizes}):
        users = ", ".join(f"'{names[index]}' {right}" for index, right in access)
        ranges = found.get(access, [])
        wanted = sizes.get(access, [])
        given = sum(end - start for start, end in ranges)
        least, most = sum(wanted), sum(1 << max(5, (size - 1).bit_length()) for size in wanted)
        where = ", ".join(span(*place) for place in ranges) or "nothing"
        if len(ranges) > len(wanted) or not least <= given <= most:
            yield (
                f"shared by {users}: {where}, {given} bytes; the description has"
                f" {len(wanted)} such block(s) of {least} bytes"
            )


def check_separation(subject: Subject) -> Iterator[str]:
    """Nothing both writable and executable; nobody reaches kernel, system registers, others."""
    forbidden = [
        ("the kernel's flash", *_ends(subject.flash_of("kernel"))),
        ("the kernel's RAM", *_ends(subject.ram_of("kernel"))),
        ("system registers", *PRIVATE_BUS),
    ]
    for device in subject.chip.devices.values():
        if device.nobody:
            forbidden.append((device.name, device.base, device.base + device.size))
    for index, unit in enumerate(decoded(subject)):
        name = subject.expected.names[index]
        others = [
            (f"{what} of '{other}'", *_ends(area))
            for other in subject.expected.names
            if other != name
            for what, area in (("flash", subject.flash_of(other)), ("RAM", subject.ram_of(other)))
        ]
        for area in unit.areas:
            if area.rights.execute and "w" in area.rights.domain:
                yield f"'{name}': {area} is writable and executable"
            for what, start, end in (*forbidden, *others):
                if area.start < end and start < area.end:
                    yield f"'{name}': {area} reaches {what}, {span(start, end)}"


def _ends(area: range) -> tuple[int, int]:
    return area.start, area.stop


def check_fpu(subject: Subject) -> Iterator[str]:
    """The floating-point unit is granted to whom the description gives it."""
    for row, domain in zip(subject.tables.domains, subject.expected.domains, strict=True):
        wanted = FPU_FOR_ALL if domain.fpu else 0
        if row.cpacr != wanted:
            yield f"'{domain.name}': CPACR is 0x{row.cpacr:08x}, not 0x{wanted:08x}"
