"""A small ELF file whose sections are read once: elftools parses them anew whenever it is asked."""

from __future__ import annotations

from collections.abc import Container
from io import BytesIO

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section


class SectionsOnce(ELFFile):
    """An ELF file in memory."""

    def __init__(self, raw: bytes) -> None:
        self._read: dict[int, Section] = {}
        super().__init__(BytesIO(raw))

    def get_section(self, n: int, type: Container[str] | None = None) -> Section:
        """Section `n`; one of a wanted type is asked of elftools."""
        if type is not None:
            return super().get_section(n, type)
        if n not in self._read:
            self._read[n] = super().get_section(n)
        return self._read[n]
