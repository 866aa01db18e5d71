"""What a binary is judged for."""

from __future__ import annotations

from dataclasses import dataclass, field

from scanner.policy import Policy


@dataclass(frozen=True)
class Target:
    """The core, what its vendor built into it, and what the domain may do there.

    `arch` is one of scanner.arch.registry.ARCHITECTURES; `profile` names the vendor's additions
    where the chip is known and has any. `scanned` are the addresses whose bytes were taken for
    code; empty where that isn't known.
    """

    arch: str
    policy: Policy = field(default_factory=Policy)
    profile: str | None = None
    scanned: tuple[range, ...] = ()
