"""The memory map to scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from composer.description.units import show_size
from composer.layout.allocate import Placed, Range
from composer.report.colours import colours
from composer.report.material import Material

WIDTH = 1000.0  # of a bar, in units of the picture
LETTER = 6.4  # width of one letter of a label
TICK = 74.0  # room of an address


@dataclass(frozen=True)
class Area:
    """A row of the map. `asked` and `used` are None for what is free."""

    owner: str
    css: str
    base: int
    size: int
    asked: int | None
    used: int | None

    @property
    def end(self) -> int:
        """First address behind it."""
        return self.base + self.size

    @property
    def rounding(self) -> int:
        """Bytes that only the protection unit wants."""
        return 0 if self.asked is None else self.size - self.asked

    @property
    def percent(self) -> int:
        """Used, of what was granted."""
        return 0 if self.used is None else 100 * self.used // self.size


@dataclass(frozen=True)
class Box:
    """An area in the picture: x and widths of what is used, granted, and rounding."""

    area: Area
    x: float
    width: float
    used: float
    rounding: float
    label: str


@dataclass(frozen=True)
class Tick:
    """An address under the bar."""

    x: float
    text: str
    anchor: str


@dataclass(frozen=True)
class Bank:
    """One memory: all of it to scale, and the part that is granted, magnified."""

    name: str
    base: int
    size: int
    areas: tuple[Area, ...]
    whole: tuple[Box, ...]
    granted: tuple[Box, ...]
    ticks: tuple[Tick, ...]
    shown: int
    magnified: float

    @property
    def summary(self) -> str:
        """What is granted, rounding and free, in one line."""
        given = [area for area in self.areas if area.asked is not None]
        total, rounding = sum(a.size for a in given), sum(a.rounding for a in given)
        return (
            f"{show_size(total)} of {show_size(self.size)} granted, {show_size(rounding)} of it"
            f" rounding, {show_size(self.size - total)} free"
        )


def banks(material: Material) -> tuple[Bank, ...]:
    """Flash and RAM."""
    plan, manifest = material.plan, material.manifest
    used = {part["name"]: part for part in manifest["parts"]}
    css = colours(plan)
    found = []
    for key, name, whole, kernel, free in (
        ("flash", "Flash", plan.flash, plan.kernel_flash, plan.free_flash),
        ("ram", "RAM", plan.ram, plan.kernel_ram, plan.free_ram),
    ):
        placed: list[tuple[str, str, Placed]] = [("kernel", "dk", kernel)]
        for domain in plan.domains:
            area = domain.flash if key == "flash" else domain.ram
            placed.append((domain.name, css[domain.name], area))
        areas = [
            Area(owner, color, area.base, area.granted, area.size, int(used[owner][key]["used"]))
            for owner, color, area in placed
        ]
        if key == "ram":
            areas += [
                Area(f"shared {s.name}", "ds", s.place.base, s.place.granted, s.place.size, None)
                for s in plan.shared
            ]
        areas += [Area("free", "free", gap.base, gap.size, None, None) for gap in free]
        found.append(_bank(name, whole, sorted(areas, key=lambda a: a.base)))
    return tuple(found)


def _bank(name: str, whole: Range, areas: Sequence[Area]) -> Bank:
    given = [area for area in areas if area.asked is not None]
    end = max((area.end for area in given), default=whole.end)
    shown = end - whole.base
    inside = [area for area in areas if area.base < end]
    boxes = _boxes(inside, whole.base, shown)
    return Bank(
        name,
        whole.base,
        whole.size,
        tuple(areas),
        _boxes(areas, whole.base, whole.size),
        boxes,
        _ticks(boxes, end),
        shown,
        whole.size / shown,
    )


def _boxes(areas: Sequence[Area], base: int, size: int) -> tuple[Box, ...]:
    scale = WIDTH / size
    boxes = []
    for area in areas:
        width = area.size * scale
        label = area.owner if len(area.owner) * LETTER + 6 < width else ""
        boxes.append(
            Box(
                area,
                round((area.base - base) * scale, 2),
                round(width, 2),
                round((area.used or 0) * scale, 2),
                round(area.rounding * scale, 2),
                label,
            )
        )
    return tuple(boxes)


def _ticks(boxes: Sequence[Box], end: int) -> tuple[Tick, ...]:
    """Addresses where there is room for them."""
    ticks = [Tick(0.0, f"0x{boxes[0].area.base:08x}", "start")] if boxes else []
    last = TICK
    for box in boxes[1:]:
        if box.x - last >= TICK / 2 and WIDTH - box.x >= 1.6 * TICK:
            ticks.append(Tick(box.x, f"0x{box.area.base:08x}", "middle"))
            last = box.x + TICK / 2
    return (*ticks, Tick(WIDTH, f"0x{end:08x}", "end"))
