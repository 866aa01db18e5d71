"""Memory that original and port share, word by word, as writes over an unknown content."""

from __future__ import annotations

from typing import Any

import z3

from porter.context_switch.proof.terms import (
    Known,
    Term,
    Truth,
    apply,
    bits,
    plain,
    same,
    split,
    truth,
)


class Memory:
    """An array of words with a log of writes. Neighbouring writes with one base are kept in the
    order of their addresses, so that the order in which a block was written doesn't show."""

    def __init__(self, name: str) -> None:
        self._content = z3.Array(name, z3.BitVecSort(32), z3.BitVecSort(32))
        self._log: list[tuple[Any, int, Term, Term]] = []  # base, offset, address, value

    def copy(self) -> Memory:
        """A memory of its own with the same content."""
        other = Memory.__new__(Memory)
        other._content, other._log = self._content, list(self._log)
        return other

    def apply(self, known: list[Known]) -> None:
        """Put in what is known."""
        self._log = [
            (*split(place), place, apply(known, value))
            for _, _, address, value in self._log
            for place in (apply(known, address),)
        ]

    def load(self, address: Term) -> Term:
        """The word at an aligned address."""
        base, offset = split(address)
        for index in range(len(self._log) - 1, -1, -1):
            there, distance, _, value = self._log[index]
            if not _one_base(there, base):
                return plain(z3.Select(self._array(index + 1), bits(address)))
            if distance == offset:
                return value
        return plain(z3.Select(self._content, bits(address)))

    def store(self, address: Term, value: Term) -> None:
        """Write the word at an aligned address."""
        base, offset = split(address)
        index = len(self._log)
        while index > 0 and _one_base(self._log[index - 1][0], base):
            if self._log[index - 1][1] == offset:
                self._log[index - 1] = (base, offset, address, value)
                return
            if self._log[index - 1][1] < offset:
                break
            index -= 1
        self._log.insert(index, (base, offset, address, value))

    def without(self, addresses: frozenset[int]) -> Memory:
        """The same but for what was written to some constant addresses."""
        other = self.copy()
        other._log = [it for it in self._log if it[0] is not None or it[1] not in addresses]
        return other

    def differs(self, other: Memory, place: str, free: tuple[Term, int] | None = None) -> Truth:
        """Whether some word differs; `place` names the unknown address of one that does. From
        `free` on so many bytes don't count."""
        if self._content.eq(other._content) and len(self._log) == len(other._log):
            pairs = zip(self._log, other._log, strict=True)
            if all(same(a[2], b[2]) and same(a[3], b[3]) for a, b in pairs):
                return False
        where = z3.BitVec(place, 32)
        one, two = (memory._array(len(memory._log)) for memory in (self, other))
        differ = z3.Select(one, where) != z3.Select(two, where)
        if free is not None:
            differ = z3.And(differ, z3.UGE(where - bits(free[0]), free[1]))
        return truth(differ)

    def _array(self, writes: int) -> Any:
        """The content after the first writes."""
        array = self._content
        for _, _, address, value in self._log[:writes]:
            array = z3.Store(array, bits(address), bits(value))
        return array


def _one_base(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    return bool(one.eq(other))
