"""Places areas in a memory, largest first, each where it loses least to rounding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from composer.layout.protection import ProtectionUnit


@dataclass(frozen=True)
class Request:
    """An area to be placed: at most `regions` protection regions may grant it."""

    name: str
    size: int
    regions: int


@dataclass(frozen=True)
class Placed:
    """An area with its place. `granted` is `size` rounded up to what the unit can express."""

    name: str
    size: int
    base: int
    granted: int

    @property
    def end(self) -> int:
        """First address behind the area, its rounding included."""
        return self.base + self.granted


@dataclass(frozen=True)
class Range:
    """Free addresses."""

    base: int
    end: int

    @property
    def size(self) -> int:
        """Bytes."""
        return self.end - self.base


class DoesNotFit(Exception):
    """No place for a request. Carries what was placed before it and what was still free."""

    def __init__(self, request: Request, free: Sequence[Range]) -> None:
        super().__init__(request.name)
        self.request = request
        self.free = tuple(free)


def allocate(
    requests: Sequence[Request], memory: Range, unit: ProtectionUnit
) -> tuple[dict[str, Placed], list[Range]]:
    """Places for all requests, and what stays free. Same input, same result.

    Largest first is a good order but not always one that fits. A request that found no place is
    tried first in the next round, once each.
    """
    order = sorted(requests, key=lambda request: -request.size)
    tried: set[str] = set()
    while True:
        try:
            return _in_order(order, memory, unit)
        except DoesNotFit as failure:
            if failure.request.name in tried:
                raise
            tried.add(failure.request.name)
            order = [failure.request, *(r for r in order if r is not failure.request)]


def _in_order(
    order: Sequence[Request], memory: Range, unit: ProtectionUnit
) -> tuple[dict[str, Placed], list[Range]]:
    free = [memory]
    placed: dict[str, Placed] = {}
    for request in order:
        area = _place(request, free, unit)
        if area is None:
            raise DoesNotFit(request, free)
        placed[request.name] = area
        free = _without(free, area)
    return placed, free


def least_rounding(size: int, regions: int, unit: ProtectionUnit) -> int:
    """Bytes that `size` grows by at the best place with at most `regions` regions."""
    room = Range(0, 1 << max(6, (2 * size).bit_length()))
    area = _place(Request("", size, regions), [room], unit)
    return 0 if area is None else area.granted - size


def _place(request: Request, free: Sequence[Range], unit: ProtectionUnit) -> Placed | None:
    """The place with the least rounding; among equals the lowest."""
    for granule in unit.granules(request.size, request.regions):
        granted = -(-request.size // granule) * granule
        for gap in free:
            base = -(-gap.base // granule) * granule
            while base + granted <= gap.end:
                count = unit.cover(base, granted)
                if count is not None and count <= request.regions:
                    return Placed(request.name, request.size, base, granted)
                base += granule
    return None


def _without(free: Sequence[Range], area: Placed) -> list[Range]:
    left: list[Range] = []
    for gap in free:
        if area.end <= gap.base or gap.end <= area.base:
            left.append(gap)
            continue
        if gap.base < area.base:
            left.append(Range(gap.base, area.base))
        if area.end < gap.end:
            left.append(Range(area.end, gap.end))
    return left
