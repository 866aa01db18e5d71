"""Where execution starts: the kernel's vectors and the domains' headers."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator

from composer.verify.expected import THREAD_SLOTS, TO_SIGNAL
from composer.verify.findings import span
from composer.verify.subject import Subject, inside
from composer.verify.tables import SYSTEM_VECTORS

EXCEPTIONS = {
    1: "Reset", 2: "NMI", 3: "HardFault", 4: "MemManage", 5: "BusFault", 6: "UsageFault",
    11: "SVCall", 12: "DebugMonitor", 14: "PendSV", 15: "SysTick",
}  # fmt: skip
RESERVED = (7, 8, 9, 10, 13)

_WAIT = bytes.fromhex("bff34f8f bff36f8f")  # DSB SY, ISB SY

_MAGIC, _VERSION = 0x444D5646, 1


def vectors(subject: Subject) -> tuple[int, ...]:
    """Initial SP, then every vector."""
    flash = subject.flash_of("kernel")
    count = SYSTEM_VECTORS + subject.lines
    data = subject.memory.read(flash.start, 4 * count, "the vector table")
    return struct.unpack(f"<{count}I", data)


def vector_name(number: int) -> str:
    """How messages call a vector."""
    if number >= SYSTEM_VECTORS:
        return f"line {number - SYSTEM_VECTORS}"
    return EXCEPTIONS.get(number, f"{number}")


def check_vectors(subject: Subject) -> Iterator[str]:
    """Initial SP in the kernel's RAM; every vector is Thumb code of the kernel."""
    table = vectors(subject)
    flash, ram = subject.flash_of("kernel"), subject.ram_of("kernel")
    code = range(subject.tables.end, flash.stop)
    if table[0] % 8 or not ram.start < table[0] <= ram.stop:
        yield f"the initial SP is 0x{table[0]:08x}, not in the kernel's RAM or not aligned to 8"
    for number, value in enumerate(table[1:], start=1):
        name = vector_name(number)
        if number in RESERVED:
            if value:
                yield f"reserved vector {number} is 0x{value:08x}, not 0"
        elif not value & 1:
            yield f"vector {name} is 0x{value:08x}: the Thumb bit is clear"
        elif not inside(value - 1, 2, code) or subject.memory.find(value - 1, 2) is None:
            yield f"vector {name} is 0x{value:08x}: not in the kernel's code"
        elif subject.chip.core.late_errors and _is_from_threads(number):
            start = subject.memory.read(value - 1, len(_WAIT), f"the code of {name}")
            if start != _WAIT:
                yield f"{name}: doesn't begin with DSB and ISB, so a thread's store may fail in it"
    for what, numbers in _sharing(subject):
        if len({table[number] for number in numbers}) > 1:
            yield f"the vectors of {what} aren't all the same"
    if table[1] != subject.manifest.entry:
        yield f"Reset is 0x{table[1]:08x}, the entry of the manifest 0x{subject.manifest.entry:08x}"


def _is_from_threads(number: int) -> bool:
    """Exceptions that come while a thread runs and aren't its fault."""
    return number >= SYSTEM_VECTORS or EXCEPTIONS.get(number) in ("SVCall", "PendSV", "SysTick")


def _sharing(subject: Subject) -> Iterator[tuple[str, list[int]]]:
    """Vectors that lead to one handler."""
    routes = subject.expected.routes()
    own = [line for line, route in routes.items() if route.kind == TO_SIGNAL]
    lines = [SYSTEM_VECTORS + line for line in range(subject.lines) if line not in own]
    yield "faults", [3, 4, 5, 6]
    yield "NMI and DebugMonitor", [2, 12]
    yield "lines without a stub of their own", lines


def header_bytes(ports: int) -> int:
    """Length of a domain's header: magic, version, entry and stack of threads and ports."""
    return 8 + 8 * (THREAD_SLOTS + ports)


def check_headers(subject: Subject) -> Iterator[str]:
    """Each domain's header: its threads start in its own flash, on stacks in its own RAM."""
    for index, domain in enumerate(subject.expected.domains):
        row = subject.tables.domains[index]
        size = header_bytes(domain.ports)
        data = subject.memory.read(row.flash_base, size, f"header of '{domain.name}'")
        magic, version, *words = struct.unpack(f"<{size // 4}I", data)
        if magic != _MAGIC or version != _VERSION:
            yield f"'{domain.name}': no header of version {_VERSION} at 0x{row.flash_base:08x}"
            continue
        flash = range(row.flash_base + size, row.flash_end)
        threads = len(domain.priorities)
        tops: list[tuple[int, int, str]] = []
        for slot, (entry, stack) in enumerate(zip(words[::2], words[1::2], strict=True)):
            if threads <= slot < THREAD_SLOTS:
                if entry or stack:
                    yield f"'{domain.name}': thread {slot} isn't in the description"
                continue
            name = f"thread {slot}" if slot < threads else f"port {slot - THREAD_SLOTS}"
            if not entry & 1:
                yield f"'{domain.name}': entry 0x{entry:08x} of {name} has no Thumb bit"
            elif not inside(entry - 1, 2, flash) or subject.memory.find(entry - 1, 2) is None:
                yield f"'{domain.name}': entry 0x{entry:08x} of {name} isn't in its flash"
            tops.append((stack, domain.stacks[len(tops)], name))
        yield from _stacks(subject, index, tops)


def _stacks(subject: Subject, index: int, tops: list[tuple[int, int, str]]) -> Iterator[str]:
    """The stacks lie one behind the other and fill a segment of their own in the domain's RAM."""
    domain, row = subject.expected.domains[index], subject.tables.domains[index]
    places = sorted((top - size, top, name) for top, size, name in tops)
    for bottom, top, name in places:
        if top % 8:
            yield f"'{domain.name}': stack 0x{top:08x} of {name} isn't aligned to 8"
        if bottom < row.ram_base or top > row.ram_end:
            yield f"'{domain.name}': {span(bottom, top)}, stack of {name}, isn't in its RAM"
    for before, after in itertools.pairwise(places):
        if before[1] != after[0]:
            yield f"'{domain.name}': stacks of {before[2]} and {after[2]} don't meet"
    if places:
        start, end = places[0][0], places[-1][1]
        segments = subject.part(domain.name).segments
        if not any((s.run, s.run + s.run_size) == (start, end) for s in segments):
            yield f"'{domain.name}': {span(start, end)}, its stacks, is no segment of it"
