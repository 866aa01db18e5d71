"""Where the patterns of the rules match: a table on the first halfword, then exact masks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.instruction_set import Flags, Indices, InstructionSet
from scanner.rules.model import InstructionRule, Pattern

_CHUNK = 1 << 17
_EVERYWHERE, _KNOWN_STARTS = 1, 2


@dataclass(frozen=True)
class Hits:
    """Matches of one rule and width: values[n] was found at indices[n]."""

    rule: InstructionRule
    bits: int
    indices: Indices
    values: npt.NDArray[np.uint32]


def search(
    space: CodeSpace, isa: InstructionSet, rules: Sequence[InstructionRule], listed: Flags
) -> Iterator[Hits]:
    """All matches of the rules; `listed` marks where patterns that data resembles count."""
    table = _table(isa, rules)
    everywhere, starts = _candidates(space, table, listed)
    for rule in rules:
        for pattern in rule.patterns:
            indices = everywhere if pattern.everywhere else starts
            hits = _exact(space, isa, rule, pattern, indices)
            if len(hits.indices):
                yield hits


def _table(isa: InstructionSet, rules: Sequence[InstructionRule]) -> npt.NDArray[np.uint8]:
    """For every first halfword, whether some pattern of either sort may match there."""
    first = np.arange(0x10000, dtype=np.uint32)
    table = np.zeros(0x10000, dtype=np.uint8)
    for rule in rules:
        for pattern in rule.patterns:
            mask = isa.first_half(pattern.bits, pattern.mask)
            matches = (first & mask) == isa.first_half(pattern.bits, pattern.match)
            table[matches] |= _EVERYWHERE if pattern.everywhere else _KNOWN_STARTS
    return table


def _candidates(
    space: CodeSpace, table: npt.NDArray[np.uint8], listed: Flags
) -> tuple[Indices, Indices]:
    """Indices that a pattern of either sort may match.

    Nearly every halfword is passed over here, so this loop decides the speed of a scan: take()
    with a mode skips a conversion of the indices, and flatnonzero() is quickest on booleans.
    """
    interesting = table != 0
    found = [np.zeros(0, dtype=np.intp)]
    for begin in range(0, len(space), _CHUNK):
        marks = np.take(interesting, space.halfwords[begin : begin + _CHUNK], mode="clip")
        found.append(np.flatnonzero(marks) + begin)
    hits = np.concatenate(found)
    kinds = table[space.halfwords[hits]]
    everywhere = hits[(kinds & _EVERYWHERE) != 0]
    return everywhere, hits[((kinds & _KNOWN_STARTS) != 0) & listed[hits]]


def _exact(
    space: CodeSpace,
    isa: InstructionSet,
    rule: InstructionRule,
    pattern: Pattern,
    candidates: Indices,
) -> Hits:
    values = space.halfwords[candidates].astype(np.uint32)
    if pattern.bits == 32:
        whole = ~np.isin(candidates + 1, space.barriers)
        candidates, values = candidates[whole], values[whole]
        values = isa.join(values, space.halfwords[candidates + 1].astype(np.uint32))
    matching = (values & np.uint32(pattern.mask)) == np.uint32(pattern.match)
    return Hits(rule, pattern.bits, candidates[matching], values[matching])
