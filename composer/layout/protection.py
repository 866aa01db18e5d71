"""What the layout needs of a protection unit. One module a kind; `unit_of` chooses.

A unit answers two questions: how many regions does it take to grant exactly [base, base + size),
and what does the hardware have to be given for that. Everything else in the layout is free of
the hardware's rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from composer.chips.chip import Core
from scanner.report.errors import InternalError


@dataclass(frozen=True)
class Grant:
    """A range that a domain may use. kind: code, ram, device, shared; access: rx, rw, r."""

    name: str
    kind: str
    base: int
    size: int
    access: str

    @property
    def end(self) -> int:
        """First address behind the range."""
        return self.base + self.size


class ProtectionUnit(Protocol):
    """One kind of protection unit."""

    regions: int

    def granules(self, size: int, regions: int) -> Iterator[int]:
        """Steps to which an area of `size` bytes may be rounded and aligned, finest first.

        Steps that at most `regions` regions can't express may be left out.
        """

    def cover(self, base: int, size: int) -> int | None:
        """Least number of regions that grant exactly this range; None if none can."""

    def initialiser(self, grants: Sequence[Grant], fpu: bool) -> list[str]:
        """Lines of C: the members of `struct fvm_protection` (no enclosing braces)."""


def unit_of(core: Core) -> ProtectionUnit:
    """The protection unit of a core."""
    from composer.layout.pmsav7 import Pmsav7

    if core.protection_kind == "pmsav7":
        return Pmsav7(core.protection_regions)
    raise InternalError(f"no layout for protection unit '{core.protection_kind}'")
