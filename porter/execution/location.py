"""Where an object is, and how its type limits what it holds."""

from __future__ import annotations

from dataclasses import dataclass

from porter.execution.words import Memory, Value
from porter.source.c_types import INT, CType


@dataclass(frozen=True)
class Location:
    """An lvalue. `memory` None: the chip's address space."""

    memory: Memory | None
    offset: int | None
    type: CType


def fitted(value: Value, kind: CType) -> Value:
    """A number as an object of a type holds it."""
    if kind.kind != "scalar" or kind is INT:
        return value
    if isinstance(value, int):
        if kind.size in (1, 2):
            return value & ((1 << 8 * kind.size) - 1)
        return value & 0xFFFF_FFFF if kind.size == 4 and abs(value) >= 1 << 32 else value
    return value
