"""A register as the rules see it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Register:
    """`offset` counts bytes into a register array, None when the index isn't constant.

    `instance` is the block with its letter or number (GPIOA), None when only its kind is known.
    """

    block: str
    name: str
    offset: int | None = 0
    instance: str | None = None

    def __str__(self) -> str:
        return f"{self.instance or self.block}->{self.name}"
