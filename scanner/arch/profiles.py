"""Vendors' RISC-V cores, from the data in scanner/vendors.

A file there describes one family of cores: its chips, by the beginning of their names, with the
architecture of each; the user registers (CSRs) that it adds and what they do to a guest; names of
others; the blocks that belong to the system. `source` says where that is known from, `unchecked`
what could not be tried.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from scanner.report.finding import Severity

if TYPE_CHECKING:
    from importlib.abc import Traversable

GENERIC = "generic"
"""The profile of a core that nobody named: what is not known is denied."""


@dataclass(frozen=True)
class UserRegister:
    """A CSR that user mode reaches. `effect` says what that does to others."""

    name: str
    severity: Severity
    effect: str


@dataclass(frozen=True)
class Block:
    """Registers that belong to the system: [base, base + size).

    `registers` are rows of name, offset, number of them and size of each in bytes.
    """

    name: str
    base: int
    size: int
    registers: tuple[tuple[str, int, int, int], ...]

    def register(self, address: int, exact: bool = True) -> str:
        """`PFIC->IENR[2]`; without `exact` an unknown index is added to the address."""
        for name, offset, count, size in self.registers:
            distance = address - self.base - offset
            if 0 <= distance < count * size:
                index = f"[{distance // size}]" if exact else "[...]"
                return f"{self.name}->{name}{index if count > 1 else ''}"
        return f"{self.name} (0x{address:08x})"


@dataclass(frozen=True)
class Profile:
    """One family of cores.

    `absent_traps` says that a register that isn't named traps, because all were tried.
    `user_interrupts` says that the N extension may be there. With `strict_csrs` one of
    `user_csrs` that hardware obeys rejects wherever it may be an instruction.
    """

    core: str
    refused: str | None
    user_csrs: dict[int, UserRegister]
    other_csrs: dict[int, str]
    absent_traps: bool
    user_interrupts: bool
    strict_csrs: bool
    peripherals: range
    blocks: tuple[Block, ...]


@cache
def profile(name: str | None) -> Profile:
    """The profile of that name; the generic one for None."""
    return _profile(_document(name or GENERIC))


def all_profiles() -> tuple[Profile, ...]:
    """Every family of cores that is known."""
    names = sorted(file.name for file in _vendors().iterdir() if file.name.endswith(".json"))
    return tuple(profile(name.removesuffix(".json")) for name in names)


def _vendors() -> Traversable:
    from importlib.resources import files  # slow to import, and Cortex-M needs none of it

    return files("scanner.vendors")


def chip_families() -> dict[str, tuple[str, str, str | None]]:
    """By the beginning of a part's name: architecture, profile, and why it is refused, if it is."""
    found = {}
    for file in _vendors().iterdir():
        if file.name.endswith(".json"):
            name = file.name.removesuffix(".json")
            document = _document(name)
            for family, arch in document["chips"].items():
                found[family] = (arch, name, document.get("refused"))
    return found


@cache
def _document(name: str) -> Any:
    text = _vendors().joinpath(f"{name}.json").read_text(encoding="utf-8")
    return json.loads(text)


def _profile(document: Any) -> Profile:
    start, end = document.get("peripherals", ("0", "0"))
    return Profile(
        core=document["core"],
        refused=document.get("refused"),
        user_csrs={
            int(number, 16): UserRegister(*row)
            for number, row in document.get("user_csrs", {}).items()
        },
        other_csrs={int(n, 16): name for n, name in document.get("other_csrs", {}).items()},
        absent_traps=document.get("absent_traps", False),
        user_interrupts=document.get("user_interrupts", False),
        strict_csrs=document.get("strict_csrs", False),
        peripherals=range(int(start, 16), int(end, 16)),
        blocks=tuple(
            Block(
                row["name"],
                int(row["base"], 16),
                row["size"],
                tuple(map(_register, row["registers"])),
            )
            for row in document.get("blocks", ())
        ),
    )


def _register(row: list[Any]) -> tuple[str, int, int, int]:
    """Name and offset, then the number of registers and the size of each if they aren't 1 and 4."""
    count = row[2] if len(row) > 2 else 1
    size = row[3] if len(row) > 3 else 4
    return row[0], row[1], count, size
