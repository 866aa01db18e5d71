"""What a PMSAv7 unit does with its registers, written from the architecture manual alone.

Shares nothing with the composer's encoder: it takes RBAR and RASR words and answers what an
unprivileged access to an address may do (Arm DDI 0403E, B3.5.7 to B3.5.9).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# AP field -> what unprivileged code may do.
_UNPRIVILEGED = {0b000: "", 0b001: "", 0b010: "r", 0b011: "rw", 0b101: "", 0b110: "r", 0b111: "r"}


@dataclass(frozen=True)
class Rights:
    """Of an address, for unprivileged code; `memory` is (TEX, S, C, B)."""

    data: str
    execute: bool
    memory: tuple[int, int, int, int]


@dataclass(frozen=True)
class _Region:
    base: int
    size: int
    disabled: int
    rights: Rights

    def matches(self, address: int) -> bool:
        if not self.base <= address < self.base + self.size:
            return False
        if self.size < 256:
            return True
        return not self.disabled >> ((address - self.base) * 8 // self.size) & 1


class Unit:
    """A programmed unit."""

    def __init__(self, words: Sequence[tuple[int, int]]) -> None:
        self.regions: dict[int, _Region] = {}
        for rbar, rasr in words:
            assert rbar & 0x10, "without VALID the region number register decides"
            number = rbar & 0xF
            assert number < 8, "the unit has eight regions"
            assert number not in self.regions, "a region is written twice"
            if rasr & 1:
                self.regions[number] = self._decode(rbar, rasr)

    @staticmethod
    def _decode(rbar: int, rasr: int) -> _Region:
        field = rasr >> 1 & 0x1F
        assert field >= 4, "regions are at least 32 bytes"
        size = 2 ** (field + 1)
        base = rbar & 0xFFFFFFE0
        assert base % size == 0, "a region that isn't aligned to its size is unpredictable"
        permission = _UNPRIVILEGED[rasr >> 24 & 7]
        never_execute = bool(rasr >> 28 & 1)
        memory = (rasr >> 19 & 7, rasr >> 18 & 1, rasr >> 17 & 1, rasr >> 16 & 1)
        rights = Rights(permission, "r" in permission and not never_execute, memory)
        return _Region(base, size, rasr >> 8 & 0xFF, rights)

    def at(self, address: int) -> Rights | None:
        """Rights at an address: the matching region with the highest number decides."""
        for number in sorted(self.regions, reverse=True):
            if self.regions[number].matches(address):
                return self.regions[number].rights
        return None

    def borders(self) -> list[int]:
        """Addresses where the answer may change."""
        found = set()
        for region in self.regions.values():
            parts = 8 if region.size >= 256 else 1
            found |= {region.base + n * region.size // parts for n in range(parts + 1)}
        return sorted(found)
