"""What is known where a step of the mid-section stands."""

from __future__ import annotations

from dataclasses import dataclass, field

from porter.interrupt_split.capture import (
    Field,
)
from porter.interrupt_split.expression import Expr


@dataclass(frozen=True)
class Guard:
    """A condition that is true (or false) where a step stands."""

    condition: Expr
    positive: bool


@dataclass
class Around:
    """What is known where a step stands: conditions, and fields that were surely read before."""

    guards: tuple[Guard, ...] = ()
    read: dict[str, Field] = field(default_factory=dict)

    def under(self, condition: Expr, positive: bool) -> Around:
        """Inside a branch."""
        return Around((*self.guards, Guard(condition, positive)), dict(self.read))
