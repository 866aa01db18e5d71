"""What is verified: an image, its manifest and its description, each read once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from composer.chips.chip import Chip
from composer.description.model import System
from composer.verify.expected import Expected
from composer.verify.findings import Unreadable
from composer.verify.formats import Loaded
from composer.verify.manifest import Manifest, PartEntry
from composer.verify.memory import Memory
from composer.verify.tables import Tables, read_tables
from scanner.waivers import Waiver


def sha256(data: bytes) -> str:
    """Hexadecimal digest."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True)
class Subject:
    """Image, manifest, description and chip."""

    image: Path
    content: bytes
    loaded: Loaded
    manifest: Manifest
    system: System
    description_sha256: str
    chip: Chip
    expected: Expected
    waivers: tuple[Waiver, ...] = ()

    @property
    def memory(self) -> Memory:
        """What lies in flash."""
        return self.loaded.memory

    @property
    def lines(self) -> int:
        """Interrupt lines of the chip."""
        return max(self.chip.interrupts.values()) + 1

    @cached_property
    def tables(self) -> Tables:
        """The kernel's tables; Unreadable when they can't be decoded."""
        tables = read_tables(self.memory, self.expected.kernel_area("flash").start, self.lines)
        if len(tables.domains) != len(self.expected.domains):
            raise Unreadable(
                f"the kernel has {len(tables.domains)} domains, the description"
                f" {len(self.expected.domains)}"
            )
        return tables

    def part(self, name: str) -> PartEntry:
        """A part of the manifest."""
        for part in self.manifest.parts:
            if part.name == name:
                return part
        raise Unreadable(f"the manifest has no part '{name}'")

    @property
    def part_names(self) -> tuple[str, ...]:
        """Kernel and domains, as the description has them."""
        return ("kernel", *self.expected.names)

    def flash_of(self, name: str) -> range:
        """The flash of a part."""
        if name == "kernel":
            return self.expected.kernel_area("flash")
        domain = self.tables.domains[self.expected.names.index(name)]
        return range(domain.flash_base, domain.flash_end)

    def ram_of(self, name: str) -> range:
        """The RAM of a part."""
        if name == "kernel":
            return self.expected.kernel_area("ram")
        domain = self.tables.domains[self.expected.names.index(name)]
        return range(domain.ram_base, domain.ram_end)


def inside(start: int, size: int, area: range) -> bool:
    """Whether [start, start + size) lies in the area."""
    return area.start <= start and start + size <= area.stop
