"""Where the patterns of the rules match: a table for the first halfword, one for the second."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.instruction_set import Indices, InstructionSet
from scanner.decode.marks import CHUNK, Marks
from scanner.rules.model import InstructionRule, Pattern

_BLOCK = 1 << 21


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
    tables = _tables(isa, [pattern for _, pattern in patterns])
    anywhere = np.uint64(sum(p.everywhere << n for n, (_, p) in enumerate(patterns)))
    for begin in range(0, len(space), _BLOCK):
        block = range(begin, min(begin + _BLOCK, len(space)))
        candidates, matches = _candidates(space, block, tables, anywhere, listed)
        for number, (rule, pattern) in enumerate(patterns):
            indices = candidates[np.flatnonzero(matches & np.uint64(1 << number))]
            if not pattern.everywhere:
                indices = indices[listed[indices]]
            if pattern.bits == 32 and len(indices):
                indices = indices[~np.isin(indices + 1, space.barriers)]
            if len(indices):
                yield Hits(rule, pattern.bits, indices, _values(space, isa, pattern, indices))


def _tables(isa: InstructionSet, patterns: Sequence[Pattern]) -> tuple[Bits, Bits]:
    """For every first and every second halfword one bit for each pattern that it agrees with.

    A mask is asked bit by bit, so what agrees with a pattern in both halves matches it.
    """
    tables = np.zeros((2, 0x10000), dtype=np.uint64)
    every = np.arange(0x10000, dtype=np.uint32)
    nothing = np.zeros_like(every)
    wide = isa.join(every, nothing), isa.join(nothing, every)
    for number, pattern in enumerate(patterns):
        halves = wide if pattern.bits == 32 else (every, nothing)
        for table, half in zip(tables, halves, strict=True):
            agrees = (half & np.uint32(pattern.mask)) == (half[-1] & np.uint32(pattern.match))
            table[agrees] |= np.uint64(1 << number)
    return tables[0], tables[1]


def _candidates(
    space: CodeSpace, block: range, tables: tuple[Bits, Bits], anywhere: np.uint64, listed: Marks
) -> tuple[Indices, Bits]:
    """Indices where patterns match, and which; where only listed code counts, none elsewhere.

    Nearly every halfword is passed over here, so this loop decides the speed of a scan: take()
    with a mode skips a conversion of the indices, and flatnonzero() is quickest on booleans.
    """
    interesting = tables[0] != 0
    found, matches = [], []
    for begin in range(block.start, block.stop, CHUNK):
        words = space.halfwords[begin : min(begin + CHUNK, block.stop)]
        hits = np.flatnonzero(np.take(interesting, words, mode="clip"))
        second = np.take(space.halfwords, hits + (begin + 1), mode="clip")
        both = tables[0][words[hits]] & tables[1][second]
        rows = np.flatnonzero(both)
        hits, both = hits[rows] + begin, both[rows]
        rows = np.flatnonzero((both & anywhere != 0) | listed[hits])
        found.append(hits[rows])
        matches.append(both[rows])
    return np.concatenate(found), np.concatenate(matches)


def _values(
    space: CodeSpace, isa: InstructionSet, pattern: Pattern, indices: Indices
) -> npt.NDArray[np.uint32]:
    first = space.halfwords[indices].astype(np.uint32)
    if pattern.bits == 16:
        return first
    return isa.join(first, space.halfwords[indices + 1].astype(np.uint32))
