"""Names of integer registers as the ABI has them (psABI, chapter 1)."""

from __future__ import annotations

NAMES = (
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1",
    *(f"a{n}" for n in range(8)), *(f"s{n}" for n in range(2, 12)), *(f"t{n}" for n in range(3, 7)),
)  # fmt: skip
