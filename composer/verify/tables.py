"""The kernel's tables, decoded from the image by their layout in C (kernel/tables.h, directory.h).

Armv7-M, AAPCS: little-endian, members aligned to their size.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from composer.verify.findings import Unreadable
from composer.verify.memory import Memory

SYSTEM_VECTORS = 16  # words before the first line's vector: initial SP and 15 exceptions
REGIONS = 8
NO_INDEX = 0xFF

_MAGIC, _VERSION = 0x544D5646, 4
_DIRECTORY = struct.Struct("<II32s")
_ENTRY = struct.Struct("<IHH")
_TABLES = ("domain", "thread", "vcpu", "route", "event", "timer", "boot", "pin")
_DOMAIN = struct.Struct("<24sIIIIIHBBBBBBBBHH2x16II")
_CAPABILITY = struct.Struct("<BBBB")
_THREAD = struct.Struct("<BBBB")
_VCPU = struct.Struct("<BBBBBBHIIIBB2x")
_ROUTE = struct.Struct("<BBBB")
_EVENT = struct.Struct("<BBBBB")
_TIMER = struct.Struct("<B3xI")
_BOOT = struct.Struct("<IIIII")
_PIN = struct.Struct("<BBHH2xI")


@dataclass(frozen=True)
class Capability:
    """struct fvm_capability."""

    type: int
    rights: int
    index: int
    limit: int = 0


@dataclass(frozen=True)
class Domain:
    """struct fvm_domain; `regions` are RBAR and RASR in the order of loading."""

    name: str
    flash_base: int
    flash_size: int
    ram_base: int
    ram_size: int
    vcpu: int
    thread_first: int
    thread_count: int
    fault_signal: int
    port_first: int
    port_count: int
    slot_first: int
    slot_count: int
    memory_first: int
    memory_words: int
    regions: tuple[tuple[int, int], ...]
    cpacr: int
    capability_place: int
    capabilities: tuple[Capability, ...]

    @property
    def flash_end(self) -> int:
        """First address behind its flash."""
        return self.flash_base + self.flash_size

    @property
    def ram_end(self) -> int:
        """First address behind its RAM."""
        return self.ram_base + self.ram_size


@dataclass(frozen=True)
class Thread:
    """struct fvm_thread_config."""

    domain: int
    slot: int
    priority: int
    held: int = 0


@dataclass(frozen=True)
class Vcpu:
    """struct fvm_vcpu_config."""

    domain: int
    vct: int
    usr: int
    vectors: int
    request_signal: int
    budget_signal: int
    catchup: int
    budget: int
    watchdog: int
    peers: int
    priority: int
    text: int


@dataclass(frozen=True)
class Route:
    """struct fvm_route."""

    kind: int
    target: int
    virt_id: int
    bottom: int


@dataclass(frozen=True)
class Event:
    """struct fvm_event_config."""

    sender: int
    route: Route


@dataclass(frozen=True)
class Timer:
    """struct fvm_timer_config."""

    signal: int
    period: int


@dataclass(frozen=True)
class BootStep:
    """struct fvm_boot_op."""

    kind: int
    address: int
    mask: int
    value: int
    limit: int


@dataclass(frozen=True)
class PinGrant:
    """struct fvm_pin_grant."""

    domain: int
    port: int
    mask: int
    own: int
    address: int


@dataclass(frozen=True)
class Tables:
    """Everything that the directory leads to; `places` maps a table's name to its range."""

    end: int  # of the directory: first address behind it
    description: str
    domains: tuple[Domain, ...]
    threads: tuple[Thread, ...]
    vcpus: tuple[Vcpu, ...]
    routes: tuple[Route, ...]
    events: tuple[Event, ...]
    timers: tuple[Timer, ...]
    boot: tuple[BootStep, ...]
    pins: tuple[PinGrant, ...]
    places: dict[str, range]


def read_tables(memory: Memory, flash: int, lines: int) -> Tables:
    """The tables of a kernel that starts at `flash`, for a chip with `lines` interrupt lines."""
    place = flash + 4 * (SYSTEM_VECTORS + lines)
    magic, version, digest = _DIRECTORY.unpack(
        memory.read(place, _DIRECTORY.size, "the directory of the kernel's tables")
    )
    if magic != _MAGIC or version != _VERSION:
        raise Unreadable(
            f"no directory of the kernel's tables at 0x{place:08x}: the image is of another version"
            " of fvmkit, or is none"
        )
    place += _DIRECTORY.size
    layouts = (_DOMAIN, _THREAD, _VCPU, _ROUTE, _EVENT, _TIMER, _BOOT, _PIN)
    rows: dict[str, list[tuple[Any, ...]]] = {}
    places: dict[str, range] = {}
    for name, layout in zip(_TABLES, layouts, strict=True):
        first, count, size = _ENTRY.unpack(
            memory.read(place, _ENTRY.size, "the directory of the kernel's tables")
        )
        place += _ENTRY.size
        if size != layout.size:
            raise Unreadable(f"table '{name}': {size} bytes an element, not {layout.size}")
        data = memory.read(first, count * size, f"table '{name}'")
        rows[name] = list(layout.iter_unpack(data))
        if b"".join(layout.pack(*row) for row in rows[name]) != data:
            raise Unreadable(f"table '{name}': bytes that belong to no member aren't 0")
        places[name] = range(first, first + max(count, 1) * size)
    return Tables(
        end=place,
        description=digest.hex(),
        domains=tuple(_domain(memory, row, places) for row in rows["domain"]),
        threads=tuple(Thread(*row) for row in rows["thread"]),
        vcpus=tuple(Vcpu(*row) for row in rows["vcpu"]),
        routes=tuple(Route(*row) for row in rows["route"]),
        events=tuple(Event(row[0], Route(*row[1:])) for row in rows["event"]),
        timers=tuple(Timer(*row) for row in rows["timer"]),
        boot=tuple(BootStep(*row) for row in rows["boot"]),
        pins=tuple(PinGrant(*row) for row in rows["pin"]),
        places=places,
    )


def _domain(memory: Memory, row: tuple[Any, ...], places: dict[str, range]) -> Domain:
    raw, flash, flash_size, ram, ram_size, capability, count = row[:7]
    vcpu, first, threads, fault, first_port, ports, *run_time = row[7:17]
    name = raw.rstrip(b"\0").decode("ascii", "backslashreplace")
    capabilities: tuple[Capability, ...] = ()
    if count:
        data = memory.read(capability, count * _CAPABILITY.size, f"capabilities of '{name}'")
        capabilities = tuple(Capability(*entry) for entry in _CAPABILITY.iter_unpack(data))
        places[f"capabilities of '{name}'"] = range(capability, capability + len(data))
    words = row[17 : 17 + 2 * REGIONS]
    return Domain(
        name=name,
        flash_base=flash,
        flash_size=flash_size,
        ram_base=ram,
        ram_size=ram_size,
        vcpu=vcpu,
        thread_first=first,
        thread_count=threads,
        fault_signal=fault,
        port_first=first_port,
        port_count=ports,
        slot_first=run_time[0],
        slot_count=run_time[1],
        memory_first=run_time[2],
        memory_words=run_time[3],
        regions=tuple(zip(words[::2], words[1::2], strict=True)),
        cpacr=row[-1],
        capability_place=capability,
        capabilities=capabilities,
    )
