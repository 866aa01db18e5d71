"""Each domain's protection regions as the image has them, compared with the description."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from composer.layout.protection import Grant
from composer.plan import DomainPlan
from composer.report.colours import colours
from composer.report.material import Material
from composer.report.region import Protection, Region, merged


@dataclass(frozen=True)
class Shown:
    """A region, the grants that lie in it, and its cells from left to right."""

    region: Region
    grants: str
    ranges: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Unit:
    """What the protection unit holds while a domain runs. `faults`: where it isn't as described."""

    name: str
    kind: str
    css: str
    fpu: bool
    regions: tuple[Shown, ...]
    unused: int
    faults: tuple[str, ...]


@dataclass(frozen=True)
class Matrix:
    """Who may touch what: a row an area with the rights of each domain."""

    domains: tuple[str, ...]
    rows: tuple[tuple[str, int, int, tuple[str, ...]], ...]


def units(material: Material) -> tuple[Unit, ...]:
    """Every domain, in the order of the kernel's table."""
    found = protections(material)
    css = colours(material.plan)
    return tuple(
        Unit(
            domain.name,
            domain.kind,
            css[domain.name],
            protection.fpu,
            tuple(_shown(region, domain.grants) for region in protection.regions if region.enabled),
            sum(not region.enabled for region in protection.regions),
            tuple(faults(protection, domain)),
        )
        for protection, domain in zip(found, material.plan.domains, strict=False)
    )


def matrix(material: Material) -> Matrix:
    """From the image alone: the rights that the regions give at every area of the description."""
    found = protections(material)
    areas: dict[tuple[int, int], str] = {}
    plan = material.plan
    for kind, placed in (("flash", plan.kernel_flash), ("RAM", plan.kernel_ram)):
        areas[placed.base, placed.end] = f"kernel {kind}"
    for domain in plan.domains:
        for grant in domain.grants:
            owner = domain.name if grant.kind in ("code", "ram") else grant.kind
            name = {"flash": "flash", "ram": "RAM"}.get(grant.name, grant.name)
            areas.setdefault((grant.base, grant.end), f"{owner} {name}")
    rows = [
        (name, start, end, tuple(_rights(protection, start, end) for protection in found))
        for (start, end), name in sorted(areas.items())
    ]
    return Matrix(tuple(protection.name for protection in found), tuple(rows))


def protections(material: Material) -> tuple[Protection, ...]:
    """Every domain's regions in the order of the kernel's table."""
    return tuple(
        Protection(
            domain.name,
            tuple(Region(number, *words) for number, words in enumerate(domain.regions)),
            bool(domain.cpacr),
        )
        for domain in material.tables.domains
    )


def _shown(region: Region, grants: Sequence[Grant]) -> Shown:
    ranges = region.ranges()
    names = [
        grant.name if grant.kind != "shared" else f"shared {grant.name}"
        for grant in grants
        if any(start < grant.end and grant.base < end for start, end in ranges)
    ]
    return Shown(region, " + ".join(names), tuple(ranges))


def _covered(regions: Iterable[Region], access: str) -> list[tuple[int, int]]:
    return merged([r for region in regions if region.access == access for r in region.ranges()])


def _rights(protection: Protection, start: int, end: int) -> str:
    """`rx`, `rw`, `r`, "" for none, with a `~` where only a part has it."""
    for region in reversed(protection.regions):  # of two that overlap the higher number wins
        touching = [r for r in region.ranges() if r[0] < end and start < r[1]]
        if touching:
            whole = any(
                a <= start and end <= b for a, b in _covered(protection.regions, region.access)
            )
            return region.access + ("" if whole else "~")
    return ""


def faults(protection: Protection, domain: DomainPlan) -> Iterable[str]:
    """Every deviation of the image from the description, with its addresses."""
    if protection.name != domain.name:
        yield f"the table names '{protection.name}', the description '{domain.name}'"
    if protection.fpu != domain.fpu:
        yield f"the FPU is {'open' if protection.fpu else 'closed'}, described is the opposite"
    for access in ("rx", "rw", "r"):
        real = _covered(protection.regions, access)
        wanted = merged([(g.base, g.end) for g in domain.grants if g.access == access])
        for start, end in _without(real, wanted):
            yield f"{access} at 0x{start:08x}-0x{end:08x}, which was not granted"
        for start, end in _without(wanted, real):
            yield f"no {access} at 0x{start:08x}-0x{end:08x}, which was granted"
    for region in protection.regions:
        if region.enabled and region.access not in ("rx", "rw", "r"):
            yield f"region {region.number} gives '{region.access}', which no grant means"


def _without(ranges: list[tuple[int, int]], taken: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The parts of `ranges` that are in none of `taken`."""
    left = ranges
    for low, high in taken:
        pieces = []
        for start, end in left:
            pieces += [(start, min(end, low)), (max(start, high), end)]
        left = [(start, end) for start, end in pieces if start < end]
    return left
