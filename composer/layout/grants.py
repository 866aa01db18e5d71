"""The devices that a domain is granted."""

from __future__ import annotations

from collections.abc import Sequence

from composer.chips.chip import Chip
from composer.description.model import Domain, System
from composer.layout.protection import Grant


def device_grants(system: System, chip: Chip, domain: Domain | None) -> list[Grant]:
    """One grant a block, by address. `domain` None is the hypervisor with its console."""
    console = [system.kernel.console] if system.kernel.console else []
    names = console if domain is None else [d.name for d in (*domain.devices, *domain.borrowed)]
    devices = sorted((chip.devices[name] for name in names), key=lambda d: d.base)
    return [Grant(d.name, "device", d.base, d.size, "rw") for d in devices]


def joined(grants: Sequence[Grant]) -> list[Grant]:
    """The same ranges with neighbouring devices joined: they may share a region."""
    result: list[Grant] = []
    for grant in grants:
        last = result[-1] if result else None
        if last and last.kind == grant.kind == "device" and last.end == grant.base:
            name = f"{last.name}+{grant.name}"
            result[-1] = Grant(name, "device", last.base, last.size + grant.size, "rw")
        else:
            result.append(grant)
    return result
