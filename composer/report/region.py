"""The protection regions of the image as pictures need them: one by one, with their subregions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Region:
    """One region of the protection unit (Arm DDI 0403E, B3.5.8 and B3.5.9)."""

    number: int
    rbar: int
    rasr: int

    @property
    def enabled(self) -> bool:
        """Whether the unit looks at it."""
        return bool(self.rasr & 1)

    @property
    def base(self) -> int:
        """First address."""
        return self.rbar & ~0x1F & ~(self.size - 1)

    @property
    def size(self) -> int:
        """Bytes, subregions that are off included."""
        return 2 << (self.rasr >> 1 & 0x1F)

    @property
    def subregions(self) -> tuple[bool, ...]:
        """Which eighths count. A region below 256 bytes has none that could be off."""
        off = self.rasr >> 8 & 0xFF if self.size >= 256 else 0
        return tuple(not off >> n & 1 for n in range(8))

    @property
    def executable(self) -> bool:
        """XN is clear."""
        return not self.rasr >> 28 & 1

    @property
    def access(self) -> str:
        """What unprivileged code may do: some of r, w, x."""
        rights = {0b010: "r", 0b011: "rw", 0b110: "r", 0b111: "r"}.get(self.rasr >> 24 & 7, "")
        return rights + ("x" if self.executable and rights else "")

    @property
    def memory(self) -> str:
        """Type by TEX, C, B; shareable by S."""
        tex, s, cb = self.rasr >> 19 & 7, self.rasr >> 18 & 1, self.rasr >> 16 & 3
        kinds = {
            (0, 0): "strongly ordered",
            (0, 1): "device",
            (0, 2): "normal, write-through",
            (0, 3): "normal, write-back",
            (1, 0): "normal, not cached",
            (1, 3): "normal, write-allocate",
            (2, 0): "device, not shared",
        }
        return kinds.get((tex, cb), f"TEX={tex} CB={cb}") + (", shareable" if s else "")

    def ranges(self) -> list[tuple[int, int]]:
        """What it covers, as [start, end), neighbouring subregions joined."""
        if not self.enabled:
            return []
        part = self.size // 8
        pieces = [
            (self.base + n * part, self.base + (n + 1) * part)
            for n, on in enumerate(self.subregions)
            if on
        ]
        return merged(pieces)


@dataclass(frozen=True)
class Protection:
    """The regions of one domain, and whether it may use the FPU."""

    name: str
    regions: tuple[Region, ...]
    fpu: bool


def merged(pieces: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges in order, those that touch or overlap joined."""
    result: list[tuple[int, int]] = []
    for start, end in sorted(pieces):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result
