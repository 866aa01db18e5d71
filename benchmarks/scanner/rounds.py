"""Measures several contenders in turns, so that a slow minute of the machine hits all alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from typing import NamedTuple

ROUNDS = 7

Figures = dict[str, float]
"""What one run of a contender gave: names that end in `mb_s` are speeds, all others are costs."""

Contender = Callable[[], Figures]


class Figure(NamedTuple):
    """The middle of all rounds, and the best of them."""

    median: float
    best: float


def in_turns(
    contenders: Mapping[str, Contender], rounds: int = ROUNDS
) -> dict[str, dict[str, Figure]]:
    """Run each contender once a round; the figures of all rounds by contender and name."""
    runs: dict[str, list[Figures]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            runs[name].append(run())
    return {name: _figures(found) for name, found in runs.items()}


def _figures(runs: list[Figures]) -> dict[str, Figure]:
    found = {}
    for name in runs[0]:
        values = [run[name] for run in runs]
        best = max(values) if name.endswith("mb_s") else min(values)
        found[name] = Figure(_rounded(median(values)), _rounded(best))
    return found


def _rounded(value: float) -> float:
    return float(f"{value:.3g}") if value < 1000 else round(value)
