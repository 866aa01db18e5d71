"""Where the patterns of the rules match: a table for the first halfword, one for the second."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.instruction_set import Flags, Halfwords, Indices, InstructionSet
from scanner.decode.marks import CHUNK, Marks
from scanner.decode.select import has_form, merged
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
    owners = [rule for rule in rules for _ in rule.patterns]
    patterns = [pattern for rule in rules for pattern in rule.patterns]
    for number, indices in matching(space, isa, patterns, listed):
        bits = patterns[number].bits
        yield Hits(owners[number], bits, indices, values(space, isa, bits, indices))


def matching(
    space: CodeSpace, isa: InstructionSet, patterns: Sequence[Pattern], listed: Marks
) -> Iterator[tuple[int, Indices]]:
    """The number of a pattern, and where it matches; some more of these may follow later."""
    sieve = _Sieve(isa, patterns)
    for begin in range(0, len(space), _BLOCK):
        block = range(begin, min(begin + _BLOCK, len(space)))
        candidates, matches = sieve.candidates(space, block, listed)
        for number, pattern in enumerate(patterns):
            indices = candidates[np.flatnonzero(matches & np.uint64(1 << number))]
            if not pattern.everywhere:
                indices = indices[listed[indices]]
            if pattern.bits == 32 and len(indices):
                indices = indices[~np.isin(indices + 1, space.barriers)]
            if len(indices):
                yield number, indices


class _Sieve:
    """Passes over nearly every halfword, so it decides the speed of a scan.

    What counts at every address are a few forms of first halfwords, which a processor compares many
    at a time; the rest is looked up in a table, where the slower conversion of halfwords to
    indices is what it costs.
    """

    def __init__(self, isa: InstructionSet, patterns: Sequence[Pattern]) -> None:
        self._first, self._second = _tables(isa, patterns)
        self._everywhere = np.uint64(sum(p.everywhere << n for n, p in enumerate(patterns)))
        self._forms = merged({_first_half(isa, p) for p in patterns if p.everywhere})
        self._if_listed = (self._first & ~self._everywhere) != 0
        self._any_if_listed = bool(self._if_listed.any())

    def candidates(self, space: CodeSpace, block: range, listed: Marks) -> tuple[Indices, Bits]:
        """Indices where patterns match, and which; none where only listed code counts and isn't."""
        found, matches = [], []
        for begin in range(block.start, block.stop, CHUNK):
            end = min(begin + CHUNK, block.stop)
            hits = np.flatnonzero(self._interesting(space.halfwords[begin:end], listed, begin, end))
            hits += begin
            both = self._first.take(space.halfwords.take(hits), mode="clip")
            both &= self._second.take(space.halfwords.take(hits + 1, mode="clip"), mode="clip")
            rows = np.flatnonzero(both)
            hits, both = hits.take(rows), both.take(rows)
            rows = np.flatnonzero((both & self._everywhere != 0) | listed[hits])
            found.append(hits[rows])
            matches.append(both[rows])
        return np.concatenate(found), np.concatenate(matches)

    def _interesting(self, words: Halfwords, listed: Marks, begin: int, end: int) -> Flags:
        found = has_form(words, self._forms)
        if self._any_if_listed:
            others = np.take(self._if_listed, words, mode="clip")
            others &= listed.part(begin, end)
            found |= others
        return found


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


def _first_half(isa: InstructionSet, pattern: Pattern) -> tuple[int, int]:
    """What a pattern asks of its first halfword, as mask and match."""
    bits = np.uint32(1) << np.arange(16, dtype=np.uint32)
    places = isa.join(bits, np.zeros_like(bits)) if pattern.bits == 32 else bits
    mask, match = (places & np.uint32(n) != 0 for n in (pattern.mask, pattern.match))
    return int(bits[mask].sum()), int(bits[match].sum())


def values(
    space: CodeSpace, isa: InstructionSet, bits: int, indices: Indices
) -> npt.NDArray[np.uint32]:
    """The instructions of so many bits at the indices, as the manual writes them."""
    first = space.halfwords[indices].astype(np.uint32)
    if bits == 16:
        return first
    return isa.join(first, space.halfwords[indices + 1].astype(np.uint32))
