"""The hypervisor's policy tables, decoded from the image by their layout in C
(hypervisor/policy.h, hypervisor/directory.h)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from composer.verify.findings import Unreadable
from composer.verify.memory import Memory

HEADER_BYTES = 40  # struct fvm_domain_header, before the directory

_MAGIC, _VERSION = 0x484D5646, 1
_DIRECTORY = struct.Struct("<II")
_ENTRY = struct.Struct("<IHH")
_LAYOUTS = {
    "domain": struct.Struct("<BB2xBBHIII"),
    "vcpu": struct.Struct("<B3xI"),
    "route": struct.Struct("<BBH"),
    "event": struct.Struct("<BBBB"),
}


@dataclass(frozen=True)
class PolicyDomain:
    """struct hyp_domain, with its struct hyp_fault_policy."""

    cap: int
    vcpu: int
    action: int
    starting: int = 0
    most: int = 0
    within: int = 0
    delay: int = 0
    longest: int = 0


@dataclass(frozen=True)
class PolicyVcpu:
    """struct hyp_vcpu."""

    cap: int
    budget: int


@dataclass(frozen=True)
class PolicyRoute:
    """struct hyp_route."""

    vcpu: int
    virt_id: int
    phys: int


@dataclass(frozen=True)
class PolicyEvent:
    """struct hyp_event."""

    evt: int
    sender_vcpu: int
    receiver_vcpu: int
    virt_id: int


@dataclass(frozen=True)
class Policy:
    """All tables; `places` maps a table's name to its range."""

    domains: tuple[PolicyDomain, ...]
    vcpus: tuple[PolicyVcpu, ...]
    routes: tuple[PolicyRoute, ...]
    events: tuple[PolicyEvent, ...]
    places: dict[str, range]


def read_policy(memory: Memory, flash: int) -> Policy:
    """The tables of a hypervisor whose flash starts at `flash`."""
    place, what = flash + HEADER_BYTES, "the directory of the hypervisor's tables"
    magic, version = _DIRECTORY.unpack(memory.read(place, _DIRECTORY.size, what))
    if magic != _MAGIC or version != _VERSION:
        raise Unreadable(f"no directory of the hypervisor's tables at 0x{place:08x}")
    place += _DIRECTORY.size
    rows: dict[str, list[tuple[Any, ...]]] = {}
    places: dict[str, range] = {}
    for name, layout in _LAYOUTS.items():
        table = f"the hypervisor's table '{name}'"
        first, count, size = _ENTRY.unpack(memory.read(place, _ENTRY.size, what))
        place += _ENTRY.size
        if size != (layout.size if count else 0) or (not count and first):
            raise Unreadable(f"{table}: {count} elements of {size} bytes")
        data = memory.read(first, count * size, table) if count else b""
        rows[name] = list(layout.iter_unpack(data))
        if b"".join(layout.pack(*row) for row in rows[name]) != data:
            raise Unreadable(f"{table}: bytes that belong to no member aren't 0")
        places[name] = range(first, first + len(data))
    return Policy(
        tuple(PolicyDomain(*row) for row in rows["domain"]),
        tuple(PolicyVcpu(*row) for row in rows["vcpu"]),
        tuple(PolicyRoute(*row) for row in rows["route"]),
        tuple(PolicyEvent(*row) for row in rows["event"]),
        places,
    )
