"""Where the patterns of the rules match: a table on the first halfword, then exact masks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.instruction_set import Flags, Indices, InstructionSet
from scanner.decode.marks import Marks
from scanner.rules.model import InstructionRule, Pattern

_CHUNK, _BLOCK = 1 << 17, 1 << 21


Bits = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Hits:
    """Matches of one rule and width: values[n] was found at indices[n]."""

    rule: InstructionRule
    bits: int
    indices: Indices
    values: npt.NDArray[np.uint32]


def search(
    space: CodeSpace, isa: InstructionSet, rules: Sequence[InstructionRule], listed: Marks
) -> Iterator[Hits]:
    """All matches of the rules; `listed` marks where patterns that data resembles count."""
    patterns = [(rule, pattern) for rule in rules for pattern in rule.patterns]
    table = _table(isa, [pattern for _, pattern in patterns])
    always = table & np.uint64(_anywhere(patterns)) != 0
    for begin in range(0, len(space), _BLOCK):
        block = range(begin, min(begin + _BLOCK, len(space)))
        candidates = _candidates(space, block, table != 0, always, listed)
        marks = table[space.halfwords[candidates]]
        for number, (rule, pattern) in enumerate(patterns):
            indices = candidates[(marks >> np.uint64(number) & np.uint64(1)).astype(np.bool_)]
            if not pattern.everywhere:
                indices = indices[listed[indices]]
            hits = _exact(space, isa, rule, pattern, indices)
            if len(hits.indices):
                yield hits


def _table(isa: InstructionSet, patterns: Sequence[Pattern]) -> Bits:
    """For every first halfword one bit for each pattern that may match there."""
    first = np.arange(0x10000, dtype=np.uint32)
    table = np.zeros(0x10000, dtype=np.uint64)
    for number, pattern in enumerate(patterns):
        mask = isa.first_half(pattern.bits, pattern.mask)
        matches = (first & mask) == isa.first_half(pattern.bits, pattern.match)
        table[matches] |= np.uint64(1 << number)
    return table


def _anywhere(patterns: Sequence[tuple[InstructionRule, Pattern]]) -> int:
    """The bits of the patterns that are looked for at every address."""
    bits: int = sum(p.everywhere << number for number, (_, p) in enumerate(patterns))
    return bits


def _candidates(
    space: CodeSpace, block: range, interesting: Flags, always: Flags, listed: Marks
) -> Indices:
    """Indices that some pattern may match.

    Nearly every halfword is passed over here, so this loop decides the speed of a scan: take()
    with a mode skips a conversion of the indices, and flatnonzero() is quickest on booleans.
    """
    found = []
    for begin in range(block.start, block.stop, _CHUNK):
        words = space.halfwords[begin : min(begin + _CHUNK, block.stop)]
        hits = np.flatnonzero(np.take(interesting, words, mode="clip"))
        hits = hits[always[words[hits]] | listed[hits + begin]]
        found.append(hits + begin)
    return np.concatenate(found)


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
