"""What is noted along a path: whose value each register holds, and each word that matters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

from composer.verify.code.state import Notes
from composer.verify.ownership.terms import (
    CURRENT,
    KEPT,
    Born,
    Own,
    Place,
    Term,
    mentions,
    number_of,
    outlives_calls,
)

FPSCR = 32  # behind S0 to S31
_REGISTERS, _WORDS = 16, 16  # core registers; words of a domain's protection

Fact = tuple[Term, Term, bool]
"""Of a term that was tested with a mask, or compared with another one: whether that gave 0."""


@dataclass(frozen=True)
class Ledger:
    """Of registers whose number is known the term is None: the state has the number."""

    registers: tuple[Term, ...]
    floats: tuple[Term, ...]
    psp: Term
    masked: bool | None  # PRIMASK; None: it isn't known
    memory: frozenset[tuple[Place, Term]]
    protection: tuple[Term, ...]  # for each word in the protection registers its domain
    facts: frozenset[Fact] = frozenset()
    tested: tuple[Term, Term] | None = None  # what the flags are of

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.registers, self.memory, self.facts, self.protection))

    @cached_property
    def words(self) -> dict[Place, Term]:
        """The memory."""
        return dict(self.memory)

    def put(self, register: int, term: Term) -> Ledger:
        """With another term in a register."""
        registers = list(self.registers)
        registers[register] = term
        return replace(self, registers=tuple(registers))

    def store(self, place: Place, term: Term) -> Ledger:
        """With another word at a place."""
        words = self.words | {place: term}
        return replace(self, memory=frozenset(words.items()))

    def remembering(self, wanted: Callable[[Place], bool]) -> Ledger:
        """With the words of some places alone."""
        return replace(self, memory=frozenset(e for e in self.memory if wanted(e[0])))

    def without(self, born: Born) -> Ledger:
        """Where what an instruction made before is nobody's any more: it makes something else."""

        def gone(term: Term) -> bool:
            return mentions(term, born)

        def each(terms: tuple[Term, ...]) -> tuple[Term, ...]:
            return tuple(None if gone(term) else term for term in terms)

        tested = self.tested or ()
        terms = (*self.registers, *self.floats, self.psp, *self.protection, *tested)
        if not any(map(gone, terms)) and (
            not any(gone(base) or gone(term) for (base, _), term in self.memory)
            and not any(gone(a) or gone(b) for a, b, _ in self.facts)
        ):
            return self
        return replace(
            self,
            registers=each(self.registers),
            floats=each(self.floats),
            psp=None if gone(self.psp) else self.psp,
            protection=each(self.protection),
            memory=frozenset(
                (place, None if gone(term) else term)
                for place, term in self.memory
                if not gone(place[0])
            ),
            facts=frozenset(f for f in self.facts if not gone(f[0]) and not gone(f[1])),
            tested=None,
        )

    def learnt(self, fact: Fact) -> Ledger | None:
        """With one fact more; None if it is known not to be so."""
        term, other, is_zero = fact
        if (term, other, not is_zero) in self.facts:
            return None
        return replace(self, facts=self.facts | {fact})

    def after_call(self) -> Ledger:
        """Without what a function of the kernel may have changed."""

        def each(terms: tuple[Term, ...]) -> tuple[Term, ...]:
            return tuple(term if outlives_calls(term) else None for term in terms)

        registers = list(each(self.registers))
        for register in (0, 1, 2, 3, 12, 14):
            registers[register] = None
        return replace(
            self,
            registers=tuple(registers),
            floats=each(self.floats),
            psp=each((self.psp,))[0],
            memory=frozenset(
                (place, term if outlives_calls(term) else None)
                for place, term in self.memory
                if outlives_calls(place[0])
            ),
            facts=frozenset(f for f in self.facts if outlives_calls(f[0]) and outlives_calls(f[1])),
            protection=each(self.protection),
            tested=None,
        )

    # --- as notes of a state --------------------------------------------------------------

    def keeping(self, live: int) -> Ledger:
        """Without registers that nobody reads any more."""
        if all(term is None or live >> n & 1 for n, term in enumerate(self.registers)):
            return self
        registers = tuple(t if live >> n & 1 else None for n, t in enumerate(self.registers))
        return replace(self, registers=registers)

    def united(self, other: Notes) -> Ledger:
        """What both know."""
        if self == other or not isinstance(other, Ledger):
            return self

        def each(a: tuple[Term, ...], b: tuple[Term, ...]) -> tuple[Term, ...]:
            return tuple(x if x == y else None for x, y in zip(a, b, strict=True))

        mine, theirs = self.words, other.words
        places = mine.keys() | theirs.keys()
        return Ledger(
            registers=each(self.registers, other.registers),
            floats=each(self.floats, other.floats),
            psp=self.psp if self.psp == other.psp else None,
            masked=self.masked if self.masked == other.masked else None,
            memory=frozenset(
                (p, mine[p] if p in mine and p in theirs and mine[p] == theirs[p] else None)
                for p in places
            ),
            protection=each(self.protection, other.protection),
            facts=self.facts & other.facts,
            tested=self.tested if self.tested == other.tested else None,
        )


def opened(cpu: int, *facts: Fact) -> Ledger:
    """The ledger at an entry: all registers are the interrupted code's, and it is the current
    thread's if a thread was interrupted."""
    registers: list[Term] = [None] * _REGISTERS
    for name in (*KEPT, "lr"):
        registers[number_of(name)] = Own(name)
    return Ledger(
        registers=tuple(registers),
        floats=(*(Own(f"s{n}") for n in range(FPSCR)), Own("fpscr")),
        psp=Own("psp"),
        masked=False,
        memory=frozenset({((0, cpu), CURRENT)}),
        protection=tuple(Own("protection") for _ in range(_WORDS)),
        facts=frozenset(facts),
    )
