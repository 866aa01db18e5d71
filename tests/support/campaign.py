"""Whether campaigns try all their cases, as `make campaign FULL=1` asks, or a sample."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TypeVar

FULL = "FVM_FULL" in os.environ
SHARE, LEAST = 8, 2  # of a sample: one case in so many, at least two

Case = TypeVar("Case")


def sample(cases: Sequence[Case], share: int = SHARE) -> list[Case]:
    """Cases from all over a test's, the same ones each time: its first, its last and between."""
    wanted = len(cases) if FULL else min(len(cases), max(LEAST, len(cases) // share))
    if wanted == len(cases):
        return list(cases)
    return [cases[place * (len(cases) - 1) // (wanted - 1)] for place in range(wanted)]
