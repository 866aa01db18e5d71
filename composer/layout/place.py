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
_KERNEL_STEP = 32  # bytes


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
    """The layout; an FvmError when memory or regions don't suffice."""
    kernel = system.kernel
    flash, ram = chip.bank("flash"), chip.bank("ram")
    areas: list[tuple[str, Domain | None, int, int]] = [
        (HYPERVISOR, None, kernel.hypervisor_flash, kernel.hypervisor_ram)
    ]
    areas += [(d.name, d, d.flash, d.ram) for d in system.domains]
    shared_sizes = [(f"shared {s.name}", s.size) for s in system.shared]
    flash_room = _Room(system, "flash", flash, kernel.flash)
    ram_room = _Room(system, "RAM", ram, kernel.ram)
    flash_room.check_total([(name, size) for name, _, size, _ in areas])
    ram_room.check_total([(name, size) for name, _, _, size in areas] + shared_sizes)
    flash_requests, ram_requests = [], []
    for name, domain, flash_size, ram_size in areas:
        regions = _regions(system, chip, unit, name, domain, flash_size, ram_size)
        flash_requests.append(Request(name, flash_size, regions[0]))
        ram_requests.append(Request(name, ram_size, regions[1]))
    ram_requests += [Request(name, size, 1) for name, size in shared_sizes]
    flash_of, free_flash = flash_room.place(flash_requests, unit)
    ram_of, free_ram = ram_room.place(ram_requests, unit)
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
        flash_room.memory,
        ram_room.memory,
        flash_room.kernel,
        ram_room.kernel,
        flash_of,
        ram_of,
        shared,
        tuple(free_flash),
        tuple(free_ram),
    )


class _Room:
    """One memory to be filled. The kernel starts it; no region grants that part to anybody."""

    def __init__(self, system: System, what: str, bank: Memory, kernel: int) -> None:
        self.system = system
        self.what = what
        self.bank = bank
        self.memory = Range(bank.base, bank.base + bank.size)
        self.kernel = Placed("kernel", kernel, bank.base, -(-kernel // _KERNEL_STEP) * _KERNEL_STEP)

    def check_total(self, sizes: Sequence[tuple[str, int]]) -> None:
        """Raise when even without any rounding the sum doesn't fit."""
        total = self.kernel.granted + sum(size for _, size in sizes)
        if total <= self.bank.size:
            return
        raise _place_of(self.system, max(sizes, key=lambda item: item[1])[0]).error(
            f"{self.what} doesn't fit: {self._sums(sizes)},"
            f" {show_size(total - self.bank.size)} too much",
            "make one smaller or take a chip with more",
        )

    def place(
        self, requests: Sequence[Request], unit: ProtectionUnit
    ) -> tuple[dict[str, Placed], list[Range]]:
        """Places for all requests, and what stays free."""
        try:
            return allocate(requests, Range(self.kernel.end, self.memory.end), unit)
        except DoesNotFit as error:
            gap = max((r.size for r in error.free), default=0)
            request = error.request
            raise _place_of(self.system, request.name).error(
                f"{self.what} of '{request.name}' ({show_size(request.size)}) has no place:"
                f" {self._sums([(r.name, r.size) for r in requests])};"
                f" largest free range {show_size(gap)}",
                "make one smaller; powers of two and multiples of their eighths round least",
            ) from None

    def _sums(self, sizes: Sequence[tuple[str, int]]) -> str:
        total = self.kernel.granted + sum(size for _, size in sizes)
        largest = sorted(sizes, key=lambda item: -item[1])[:3]
        names = ", ".join(f"{name} {show_size(size)}" for name, size in largest)
        return (
            f"asked {show_size(total)} of {show_size(self.bank.size)} ({self.bank.name}),"
            f" the largest are {names}"
        )


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


def _place_of(system: System, name: str) -> Place:
    for domain in system.domains:
        if domain.name == name:
            return domain.place
    for shared in system.shared:
        if f"shared {shared.name}" == name:
            return shared.place
    return system.kernel.place
