"""Covering arrays: few rows in which every required combination of values is somewhere.

A factor has values; of some factors classes of values matter. A requirement is a set of
(factor, class) that must be together in a row. What can't be together is forbidden by the caller.
Greedy: each row starts from a requirement that is still open, is filled by chance and improved one
factor at a time. The same seed gives the same rows.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product

Row = Mapping[str, str]
Factors = Mapping[str, Sequence[str]]
Forbidden = Sequence[Mapping[str, frozenset[str]]]  # values of factors that don't go together
Requirement = frozenset[tuple[str, str]]
Classes = Mapping[str, Mapping[str, str]]  # of a factor: the class of each value

_ATTEMPTS = 6  # rows of which the best is taken


def allowed(row: Row, forbidden: Forbidden) -> bool:
    """Of a row, or of a part of one: what isn't decided yet forbids nothing."""
    return not any(
        all(row.get(factor) in values for factor, values in rule.items()) for rule in forbidden
    )


def completed(
    part: Row, factors: Factors, forbidden: Forbidden, chance: random.Random
) -> dict[str, str] | None:
    """A whole row with this part, or None if there is none."""
    if not allowed(part, forbidden):
        return None
    open_factors = [factor for factor in factors if factor not in part]
    if not open_factors:
        return dict(part)
    factor = open_factors[0]
    for value in chance.sample(list(factors[factor]), len(factors[factor])):
        found = completed({**part, factor: value}, factors, forbidden, chance)
        if found is not None:
            return found
    return None


class Strength:
    """What must be together: every so many values of these factors, or of their classes."""

    def __init__(self, together: int, factors: Factors, classes: Classes | None = None) -> None:
        self._together = together
        self._classes = classes or {
            factor: {value: value for value in values} for factor, values in factors.items()
        }

    def requirements(self) -> Iterable[Requirement]:
        for chosen in combinations(self._classes, self._together):
            for names in product(*(sorted(set(self._classes[f].values())) for f in chosen)):
                yield frozenset(zip(chosen, names, strict=True))

    def met_by(self, row: Row) -> Iterable[Requirement]:
        named = [(factor, of[row[factor]]) for factor, of in self._classes.items()]
        return map(frozenset, combinations(named, self._together))

    def values(self, requirement: Requirement) -> Iterable[dict[str, str]]:
        """The parts of rows that meet it."""
        options = [
            [(factor, value) for value, name in self._classes[factor].items() if name == wanted]
            for factor, wanted in sorted(requirement)
        ]
        return map(dict, product(*options))


def cover(
    factors: Factors, forbidden: Forbidden, strengths: Sequence[Strength], seed: int
) -> list[dict[str, str]]:
    """Rows that meet every requirement that any allowed row meets."""
    chance = random.Random(seed)
    open_ones: list[set[Requirement]] = []
    for strength in strengths:
        wanted = list(strength.requirements())
        open_ones.append({r for r in wanted if _starts(strength, r, factors, forbidden, chance)})
    rows = []
    while any(open_ones):
        rows.append(_best(factors, forbidden, strengths, open_ones, chance))
        for strength, left in zip(strengths, open_ones, strict=True):
            left.difference_update(strength.met_by(rows[-1]))
    return rows


def _starts(
    strength: Strength,
    requirement: Requirement,
    factors: Factors,
    forbidden: Forbidden,
    chance: random.Random,
) -> dict[str, str] | None:
    for part in strength.values(requirement):
        row = completed(part, factors, forbidden, chance)
        if row is not None:
            return row
    return None


def _best(
    factors: Factors,
    forbidden: Forbidden,
    strengths: Sequence[Strength],
    open_ones: Sequence[set[Requirement]],
    chance: random.Random,
) -> dict[str, str]:
    def gain(row: Row) -> int:
        return sum(
            sum(r in left for r in strength.met_by(row))
            for strength, left in zip(strengths, open_ones, strict=True)
        )

    index = max(range(len(strengths)), key=lambda i: len(open_ones[i]))
    best: dict[str, str] = {}
    for _ in range(_ATTEMPTS):
        wanted = chance.choice(sorted(open_ones[index], key=sorted))
        row = _starts(strengths[index], wanted, factors, forbidden, chance)
        assert row is not None
        row = _improved(row, wanted, factors, forbidden, gain)
        if not best or gain(row) > gain(best):
            best = row
    return best


def _improved(
    row: dict[str, str],
    kept: Requirement,
    factors: Factors,
    forbidden: Forbidden,
    gain: object,
) -> dict[str, str]:
    assert callable(gain)
    fixed = {factor for factor, _ in kept}
    for factor, values in factors.items():
        if factor in fixed:
            continue
        others = ({**row, factor: value} for value in values)
        row = max((o for o in others if allowed(o, forbidden)), key=gain)
    return row
