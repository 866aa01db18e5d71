"""The kernel's code followed from every vector, once for all checks that ask about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from composer.verify.checks.entries import RESERVED, vectors
from composer.verify.code.decode import Decoder
from composer.verify.code.follow import Follower, Summary
from composer.verify.code.step import Access, Stepper
from composer.verify.code.values import limits
from composer.verify.findings import Unreadable
from composer.verify.subject import Subject
from composer.verify.tables import SYSTEM_VECTORS

RESET, FAULT, PENDSV = 1, 4, 14
_PRIORITY_REGISTERS = 64  # the longest loop whose every store is wanted
STOPPING = (2, 3, 4, 5, 6, 12)  # they stop a domain or reset the chip
THREAD_STACK = 0xFFFFFF5C
"""Stands for the stack pointer of the interrupted thread: a number that is nothing else."""


def _specials(vector: int) -> dict[str, int]:
    """Special registers when a handler is entered."""
    return {"ipsr": vector, "control": 0, "psp": THREAD_STACK}


@dataclass(frozen=True)
class Analysis:
    """Summaries by vector; those of reset have no bound."""

    subject: Subject

    @cached_property
    def code(self) -> range:
        """Where instructions of the kernel may lie."""
        return range(self.subject.tables.end, self.subject.flash_of("kernel").stop)

    @cached_property
    def _decoder(self) -> Decoder:
        return Decoder(self.subject.memory)

    def _follower(self, merges: int, excused: frozenset[int] = frozenset()) -> Follower:
        top = vectors(self.subject)[0]
        stepper = Stepper(self.subject.memory, self.subject.ram_of("kernel"), top)
        return Follower(stepper, self._decoder, self.code, merges, excused)

    def _entry(self, vector: int) -> int:
        entry = vectors(self.subject)[vector] & ~1
        if entry not in self.code:
            raise Unreadable(f"vector {vector} leads out of the kernel's code")
        return entry

    @cached_property
    def reset(self) -> Summary:
        """From reset to the first thread."""
        return self._follower(_PRIORITY_REGISTERS).handler(self._entry(RESET), {})

    @cached_property
    def _thorough(self) -> Follower:
        """Looks into everything, bound or not."""
        return self._follower(merges=3)

    @cached_property
    def _main(self) -> Follower:
        """Functions with a loop that has no bound are looked for in the fault's path only."""
        follower = self._follower(merges=0)
        follower.handler(self._entry(FAULT), _specials(FAULT))
        return self._follower(merges=0, excused=follower.unbounded())

    @cached_property
    def handlers(self) -> dict[int, Summary]:
        """All but reset and the reserved ones, by vector.

        Only interrupts, PendSV and SVCall are followed for a bound, and without what stops a
        faulted domain: that has loops over tables whose sizes are kept in RAM.
        """
        found = {}
        for vector in range(2, SYSTEM_VECTORS + self.subject.lines):
            if vector not in RESERVED:
                follower = self._thorough if vector in STOPPING else self._main
                found[vector] = follower.handler(self._entry(vector), _specials(vector))
        return found

    def loads(self) -> Iterator[tuple[int, int]]:
        """First and last address of every load whose place is known."""
        for summary in (self.reset, *self.handlers.values()):
            for effect in summary.effects:
                if isinstance(effect, Access) and not effect.is_store:
                    bounds = limits(effect.place)
                    if bounds is not None:
                        yield bounds[0], bounds[1] + effect.size - 1
