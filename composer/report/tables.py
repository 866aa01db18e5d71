"""The kernel's tables as they lie in the image: what the chip will do, whatever was described.

Layout: kernel/directory.h, kernel/tables.h and <fvm/protection.h> of the runtime.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from composer.report.material import Material
from scanner.report.errors import FvmError

SYSTEM_VECTORS = 16
MAGIC, VERSION = 0x544D5646, 1
DIRECTORY = struct.Struct("<II32s")
TABLE = struct.Struct("<IHH")
DOMAIN, ROUTE = 0, 3  # positions in the directory
NAME_BYTES = 24
REGIONS = 8
PROTECTION = struct.Struct("<16II")  # RBAR and RASR of each region, CPACR; last in its struct
ROUTE_ENTRY = struct.Struct("<BBBB")


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


@dataclass(frozen=True)
class Route:
    """Where the kernel leads a line: kind 0 nobody, 1 a VM's vector, 2 a signal."""

    kind: int
    target: int
    virt_id: int
    bottom: int


def merged(pieces: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges in order, those that touch or overlap joined."""
    result: list[tuple[int, int]] = []
    for start, end in sorted(pieces):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def _table(material: Material, position: int) -> list[bytes]:
    """The elements of one table."""
    start = material.plan.kernel_flash.base + 4 * (SYSTEM_VECTORS + material.plan.chip.lines)
    magic, version, _ = DIRECTORY.unpack(material.flash(start, DIRECTORY.size))
    if (magic, version) != (MAGIC, VERSION):
        raise FvmError(f"has no table directory of version {VERSION}", file=material.elf)
    entry = material.flash(start + DIRECTORY.size + position * TABLE.size, TABLE.size)
    first, count, size = TABLE.unpack(entry)
    return [material.flash(first + n * size, size) for n in range(count)]


def protections(material: Material) -> tuple[Protection, ...]:
    """Every domain's regions in the order of the domains."""
    found = []
    for entry in _table(material, DOMAIN):
        if len(entry) < NAME_BYTES + PROTECTION.size:
            raise FvmError("has a domain table of another layout", file=material.elf)
        *words, cpacr = PROTECTION.unpack(entry[-PROTECTION.size :])
        pairs = zip(words[::2], words[1::2], strict=True)
        regions = tuple(Region(n, rbar, rasr) for n, (rbar, rasr) in enumerate(pairs))
        name = entry[:NAME_BYTES].partition(b"\0")[0].decode("ascii", "replace")
        found.append(Protection(name, regions, bool(cpacr)))
    return tuple(found)


def routes(material: Material) -> tuple[Route, ...]:
    """The route of every line."""
    return tuple(Route(*ROUTE_ENTRY.unpack(entry[:4])) for entry in _table(material, ROUTE))
