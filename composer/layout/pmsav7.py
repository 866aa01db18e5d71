"""The ARMv7-M protection unit (Arm DDI 0403E, B3.5).

A region has a power-of-two size from 32 bytes, is aligned to it, and from 256 bytes up is divided
into eight subregions that can be switched off one by one. Regions may overlap; here only regions
with equal rights do, so which one wins doesn't matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from composer.layout.protection import Grant
from scanner.report.errors import InternalError

_SMALLEST = 32
_SMALLEST_DIVIDED = 256
_SUBREGIONS = 8
_FINENESS = 64  # no rounding below 1/64 of an area: it would cost regions for less than 2 %

_VALID = 1 << 4  # RBAR: the region number in the same word counts
_ENABLE = 1
_XN = 1 << 28
_FULL = 0b011 << 24  # AP: privileged and user read and write
_USER_READ = 0b010 << 24  # AP: privileged read and write, user read
_READ = 0b110 << 24  # AP: privileged and user read
_FLASH = 0b010 << 16  # TEX C B: normal, write-through
_SRAM = 0b110 << 16  # S C B: normal, write-through, shareable
_DEVICE = 0b001 << 16  # C B: shareable device

_RIGHTS = {
    ("code", "rx"): _READ | _FLASH,
    ("ram", "rw"): _XN | _FULL | _SRAM,
    ("device", "rw"): _XN | _FULL | _DEVICE,
    ("shared", "rw"): _XN | _FULL | _SRAM,
    ("shared", "r"): _XN | _USER_READ | _SRAM,
}
_CPACR_FPU = 0x00F00000  # CP10 and CP11 for everybody


@dataclass(frozen=True)
class Region:
    """One hardware region; bit n of `disabled` switches subregion n off."""

    base: int
    size: int
    disabled: int

    def words(self, number: int, rights: int) -> tuple[int, int]:
        """RBAR and RASR."""
        exponent = self.size.bit_length() - 2  # SIZE field: region of 2^(SIZE+1) bytes
        return (
            self.base | _VALID | number,
            rights | self.disabled << 8 | exponent << 1 | _ENABLE,
        )


class Pmsav7:
    """The unit as the layout uses it."""

    def __init__(self, regions: int) -> None:
        self.regions = regions

    def granules(self, size: int, regions: int) -> Iterator[int]:
        """Powers of two; the last one lets one undivided region hold the area.

        One region expresses at most eight steps: where an even number of more is possible, the
        double step gives the same range.
        """
        granule = _SMALLEST
        while granule * (_SUBREGIONS if regions == 1 else _FINENESS) < size:
            granule *= 2
        while granule < size:
            yield granule
            granule *= 2
        yield granule

    def cover(self, base: int, size: int) -> int | None:
        """Least number of regions that grant exactly this range."""
        regions = cover(base, base + size)
        return None if regions is None else len(regions)

    def words(self, grants: Sequence[Grant]) -> list[tuple[int, int]]:
        """RBAR and RASR of every region, unused ones included."""
        words: list[tuple[int, int]] = []
        for grant in grants:
            regions = cover(grant.base, grant.end)
            if regions is None:
                raise InternalError(f"no regions can grant {grant}")
            for region in regions:
                words.append(region.words(len(words), _RIGHTS[grant.kind, grant.access]))
        if len(words) > self.regions:
            raise InternalError(f"{len(words)} regions, the unit has {self.regions}")
        while len(words) < self.regions:
            words.append((_VALID | len(words), 0))
        return words

    def initialiser(self, grants: Sequence[Grant], fpu: bool) -> list[str]:
        """Members `region` and `cpacr` of struct fvm_protection."""
        lines = [f"{{0x{rbar:08X}u, 0x{rasr:08X}u}}," for rbar, rasr in self.words(grants)]
        return [
            ".region = {",
            *(f"    {line}" for line in lines),
            "},",
            f".cpacr = 0x{_CPACR_FPU if fpu else 0:08X}u,",
        ]


def cover(start: int, end: int) -> list[Region] | None:
    """The fewest regions whose union is exactly [start, end); None when 32 bytes are too coarse.

    Going from left to right, the region that reaches farthest is always a best choice: regions
    may overlap, so having covered more never costs one.
    """
    if start % _SMALLEST or end % _SMALLEST or start >= end:
        return None
    regions: list[Region] = []
    position = start
    while position < end:
        best, reach = None, position
        size = _SMALLEST
        while size <= 1 << 32:
            region, region_end = _widest(position, start, end, size)
            if region is not None and region_end > reach:
                best, reach = region, region_end
            size *= 2
        if best is None:
            raise InternalError(f"no region covers 0x{position:08x}")
        regions.append(best)
        position = reach
    return regions


def _widest(position: int, start: int, end: int, size: int) -> tuple[Region | None, int]:
    """The region of `size` bytes around `position` that stays in [start, end), and its end."""
    base = position - position % size
    if size < _SMALLEST_DIVIDED:
        inside = start <= base and base + size <= end
        return (Region(base, size, 0), base + size) if inside else (None, position)
    part = size // _SUBREGIONS
    disabled = 0
    reach = position
    for number in range(_SUBREGIONS):
        low = base + number * part
        if low < start or low + part > end:
            disabled |= 1 << number
        elif low <= reach < low + part:
            reach = low + part
    if reach == position:
        return None, position
    return Region(base, size, disabled), reach
