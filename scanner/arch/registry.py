"""Architectures by name. The tables of one are built when it is first asked for."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scanner.arch.model import Architecture

_HOMES = {
    "armv6m": "scanner.arch.arm",
    "armv7m": "scanner.arch.arm",
    "armv7em": "scanner.arch.arm",
    "armv8m.main": "scanner.arch.arm",
    "rv32imac": "scanner.arch.riscv",
    "rv32imafc": "scanner.arch.riscv",
}

ARCHITECTURES = tuple(_HOMES)
"""Every name that `architecture` knows."""

_ARM, _RISCV = 40, 243

DEFAULTS: dict[int | None, str] = {None: "armv7em", _ARM: "armv7em", _RISCV: "rv32imac"}
"""What a file is taken for that says no more of its core than an ELF machine number, or nothing."""

MACHINES = {name: _RISCV if name.startswith("rv") else _ARM for name in ARCHITECTURES}
"""The ELF machine number of each architecture."""


@cache
def architecture(name: str) -> Architecture:
    """The architecture of that name, one of ARCHITECTURES."""
    found: Architecture = importlib.import_module(_HOMES[name]).architecture(name)
    return found
