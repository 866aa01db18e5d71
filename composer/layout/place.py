"""Places the parts of a system in flash and RAM, within each domain's protection regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from composer.chips.chip import Chip, Memory
from composer.description.model import Domain, Place, System
from composer.description.units import show_size
from composer.layout.allocate import (
    DoesNotFit,
    Placed,
    Range,
    Request,
    allocate,
    least_rounding,
)
from composer.layout.grants import device_grants, joined
from composer.layout.protection import ProtectionUnit
from composer.plan import HYPERVISOR, SharedPlan

_MOST_REGIONS = 3  # of one area: more save little


@dataclass(frozen=True)
class Layout:
    """Where everything is."""

    flash: Range
    ram: Range
    kernel_flash: Placed
    kernel_ram: Placed
    flash_of: Mapping[str, Placed]
    ram_of: Mapping[str, Placed]
    shared: tuple[SharedPlan, ...]
    free_flash: tuple[Range, ...]
    free_ram: tuple[Range, ...]


def place_system(system: System, chip: Chip, unit: ProtectionUnit) -> Layout:
    """The layout; an FvmError when regions or memory don't suffice."""
    kernel = system.kernel
    areas: list[tuple[str, Domain | None, int, int]] = [
        (HYPERVISOR, None, kernel.hypervisor_flash, kernel.hypervisor_ram)
    ]
    areas += [(d.name, d, d.flash, d.ram) for d in system.domains]
    flash_requests, ram_requests = [], []
    for name, domain, flash, ram in areas:
        flash_regions, ram_regions = _regions(system, chip, unit, name, domain, flash, ram)
        flash_requests.append(Request(name, flash, flash_regions))
        ram_requests.append(Request(name, ram, ram_regions))
    shared_requests = [Request(f"shared {s.name}", s.size, 1) for s in system.shared]
    flash_bank, ram_bank = chip.bank("flash"), chip.bank("ram")
    kernel_flash = _at_start("kernel", kernel.flash, flash_bank)
    kernel_ram = _at_start("kernel", kernel.ram, ram_bank)
    flash_of, free_flash = _fit(
        system, chip, "flash", flash_bank, kernel_flash, flash_requests, unit
    )
    ram_of, free_ram = _fit(
        system, chip, "RAM", ram_bank, kernel_ram, ram_requests + shared_requests, unit
    )
    names = [name for name, *_ in areas]
    shared = tuple(
        SharedPlan(
            s.name,
            ram_of.pop(f"shared {s.name}"),
            {names.index(u.domain): "rw" if u.writes else "r" for u in s.users},
        )
        for s in system.shared
    )
    return Layout(
        Range(flash_bank.base, flash_bank.base + flash_bank.size),
        Range(ram_bank.base, ram_bank.base + ram_bank.size),
        kernel_flash,
        kernel_ram,
        flash_of,
        ram_of,
        shared,
        tuple(free_flash),
        tuple(free_ram),
    )


def _at_start(name: str, size: int, bank: Memory) -> Placed:
    """The kernel starts its memory; no region grants it to anybody."""
    return Placed(name, size, bank.base, -(-size // 32) * 32)


def _regions(
    system: System,
    chip: Chip,
    unit: ProtectionUnit,
    name: str,
    domain: Domain | None,
    flash: int,
    ram: int,
) -> tuple[int, int]:
    """Regions for flash and for RAM: one each, more where spare ones reduce the rounding."""
    users: list[tuple[str, int]] = []
    for grant in joined(device_grants(system, chip, domain)):
        users.append((grant.name, unit.cover(grant.base, grant.size) or 0))
    users += [(s.name, 1) for s in system.shared if name in [u.domain for u in s.users]]
    spare = unit.regions - 2 - sum(count for _, count in users)
    if spare < 0:
        needs = ", ".join(f"{n} {c}" for n, c in [("flash", 1), ("RAM", 1), *users])
        place: Place = domain.place if domain else system.kernel.place
        raise place.error(
            f"'{name}' needs {unit.regions - spare} protection regions, the core has"
            f" {unit.regions}: {needs}",
            f"take {-spare} device(s) or shared block(s) away from it, move some to a process, or"
            " join shared blocks with the same users",
        )
    counts = {"ram": 1, "flash": 1}
    for what, size in (("ram", ram), ("flash", flash)):
        best = least_rounding(size, 1, unit)
        for count in range(2, _MOST_REGIONS + 1):
            rounding = least_rounding(size, count, unit)
            if count - counts[what] <= spare and rounding < best:
                spare -= count - counts[what]
                counts[what], best = count, rounding
    return counts["flash"], counts["ram"]


def _fit(
    system: System,
    chip: Chip,
    what: str,
    bank: Memory,
    kernel: Placed,
    requests: Sequence[Request],
    unit: ProtectionUnit,
) -> tuple[dict[str, Placed], list[Range]]:
    end = bank.base + bank.size
    total = kernel.granted + sum(r.size for r in requests)
    largest = sorted(requests, key=lambda r: -r.size)[:3]
    names = ", ".join(f"{r.name} {show_size(r.size)}" for r in largest)
    sums = f"asked {show_size(total)} of {show_size(bank.size)} {what} ({chip.name} {bank.name})"
    if total <= bank.size:
        try:
            return allocate(requests, Range(kernel.end, end), unit)
        except DoesNotFit as error:
            gap = max((r.size for r in error.free), default=0)
            raise _place_of(system, error.request.name).error(
                f"{what} of '{error.request.name}' ({show_size(error.request.size)}) has no place:"
                f" {sums}; largest free range {show_size(gap)}; largest: {names}",
                "make one smaller; powers of two and multiples of their eighths round least",
            ) from None
    raise _place_of(system, largest[0].name).error(
        f"{what} doesn't fit: {sums}, {show_size(total - bank.size)} too much; largest: {names}",
        "make one smaller or take a chip with more",
    )


def _place_of(system: System, name: str) -> Place:
    for domain in system.domains:
        if domain.name == name:
            return domain.place
    for shared in system.shared:
        if f"shared {shared.name}" == name:
            return shared.place
    return system.kernel.place
