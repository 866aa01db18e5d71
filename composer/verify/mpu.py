"""What the eight regions of an ARMv7-M protection unit grant (Arm DDI 0403E, B3.5.8, B3.5.9)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from composer.verify.findings import span

# RBAR
_VALID, _NUMBER, _BASE = 1 << 4, 0xF, 0xFFFFFFE0
# RASR; every other bit is reserved
_ENABLE, _SIZE, _DISABLED, _MEMORY, _AP, _XN = 1, 0x1F << 1, 0xFF << 8, 0x3F << 16, 7 << 24, 1 << 28
_KNOWN = _ENABLE | _SIZE | _DISABLED | _MEMORY | _AP | _XN
_SMALLEST_FIELD = 4  # SIZE: a region has 2 ** (SIZE + 1) bytes, at least 32
_SMALLEST_DIVIDED = 256
_SUBREGIONS = 8

# AP -> what the kernel and what a domain may do. The others are reserved or grant nothing to a
# domain, which is no reason to have a region; 0b111 means 0b110 but isn't what composer writes.
_ACCESS = {0b010: ("rw", "r"), 0b011: ("rw", "rw"), 0b110: ("r", "r")}


@dataclass(frozen=True)
class Rights:
    """Of a range: for kernel and domain, may it be executed, the memory type bits TEX S C B."""

    kernel: str
    domain: str
    execute: bool
    memory: int

    def __str__(self) -> str:
        return f"{self.domain}{'x' if self.execute else ''} (TEX,S,C,B {self.memory:06b})"


@dataclass(frozen=True)
class Area:
    """Addresses [start, end) with the same rights all over."""

    start: int
    end: int
    rights: Rights

    def __str__(self) -> str:
        return f"{span(self.start, self.end)} {self.rights}"


@dataclass(frozen=True)
class _Region:
    start: int
    size: int
    disabled: int
    rights: Rights

    def parts(self) -> list[tuple[int, int]]:
        """The ranges that its subregions leave on."""
        if self.size < _SMALLEST_DIVIDED:
            return [(self.start, self.start + self.size)]
        step = self.size // _SUBREGIONS
        return [
            (self.start + n * step, self.start + (n + 1) * step)
            for n in range(_SUBREGIONS)
            if not self.disabled >> n & 1
        ]


@dataclass(frozen=True)
class Decoded:
    """What the registers grant, and what is wrong with them as such."""

    areas: tuple[Area, ...]
    problems: tuple[str, ...]


def decode(words: Sequence[tuple[int, int]]) -> Decoded:
    """The areas that a domain can reach, ascending; neighbours with equal rights are joined."""
    regions: list[_Region] = []
    problems: list[str] = []
    for number, (rbar, rasr) in enumerate(words):
        problem, region = _region(number, rbar, rasr)
        if problem:
            problems.append(f"region {number} (RBAR 0x{rbar:08x}, RASR 0x{rasr:08x}): {problem}")
        if region:
            regions.append(region)
    return Decoded(tuple(_areas(regions)), tuple(problems))


def _region(number: int, rbar: int, rasr: int) -> tuple[str, _Region | None]:
    """What is wrong with a region, and the region when it is on."""
    if not rbar & _VALID or rbar & _NUMBER != number:
        return f"isn't loaded as region {number}", None
    if not rasr & _ENABLE:
        left = rasr != 0 or rbar & _BASE
        return ("is off but isn't empty" if left else ""), None
    field = (rasr & _SIZE) >> 1
    if field < _SMALLEST_FIELD:
        return "is smaller than 32 bytes", None
    size = 1 << field + 1
    base, disabled = rbar & _BASE, (rasr & _DISABLED) >> 8
    access = _ACCESS.get((rasr & _AP) >> 24)
    problem = ""
    if rasr & ~_KNOWN:
        problem = "has reserved bits set"
    elif base % size:
        problem = f"isn't aligned to its {size} bytes"
    elif disabled and size < _SMALLEST_DIVIDED:
        problem = "is too small for subregions"
    elif disabled == 0xFF:
        problem = "has every subregion off"
    elif access is None:
        problem = f"has the access permissions {(rasr & _AP) >> 24:03b}"
    kernel, domain = access or ("?", "?")
    execute = "r" in domain and not rasr & _XN
    rights = Rights(kernel, domain, execute, (rasr & _MEMORY) >> 16)
    return problem, _Region(base - base % size, size, disabled, rights)


def _areas(regions: Sequence[_Region]) -> list[Area]:
    """The region with the highest number decides."""
    pieces = [(part, region.rights) for region in regions for part in region.parts()]
    borders = sorted({border for part, _ in pieces for border in part})
    areas: list[Area] = []
    for start, end in itertools.pairwise(borders):
        winner = None
        for (low, high), rights in pieces:
            if low <= start and end <= high:
                winner = rights
        if winner is None:
            continue
        last = areas[-1] if areas else None
        if last and last.end == start and last.rights == winner:
            areas[-1] = Area(last.start, end, winner)
        else:
            areas.append(Area(start, end, winner))
    return areas
