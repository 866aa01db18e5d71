"""The kernel's code followed from every vector, once for all checks that ask about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType

from composer.verify.checks.entries import RESERVED, header_bytes, vectors
from composer.verify.code.decode import Decoder
from composer.verify.code.effects import Access
from composer.verify.code.follow import Follower, Observer, Summary
from composer.verify.code.state import Notes
from composer.verify.code.step import Stepper
from composer.verify.code.values import Range, limits
from composer.verify.findings import Unreadable
from composer.verify.memory import Chunk, Memory
from composer.verify.subject import Subject

RESET, FAULT, SVC, PENDSV = 1, 4, 11, 14
FAULTS = (3, 4, 5, 6)
_FEW_LOOKS, _MORE_LOOKS = 3, 8  # at a loop, before what is known of it is merged
_PRIORITY_REGISTERS = 64  # the longest loop whose every store is wanted
INT_MASK = 2  # offset in struct fvm_state: a byte for PRIMASK, one for BASEPRI
_MPU_TYPE = 0xE000ED90  # 0 where there is none
MAY_STOP = (11,)  # SVCall: what it does for the hypervisor
STOPPING = (2, 3, 4, 5, 6, 12)  # they stop a domain or reset the chip
THREAD_STACK = 0xFFFFFF5C
"""Stands for the stack pointer of the interrupted thread: a number that is nothing else."""


def _specials(vector: int) -> dict[str, int]:
    """Special registers when a handler is entered."""
    return {"ipsr": vector, "control": 0, "psp": THREAD_STACK}


@dataclass(frozen=True)
class Kernel:
    """All that the analysis depends on: what the kernel reads, where its code and RAM are.

    It reads the domains' headers, and what is in them decides which of its paths can be taken.
    """

    flash: tuple[Chunk, ...]
    code: range
    ram: range
    vectors: tuple[int, ...]


def kernel_of(subject: Subject) -> Kernel:
    """The kernel of an image."""
    flash = subject.flash_of("kernel")
    data = next((c for c in subject.memory.chunks if c.base <= flash.start < c.end), None)
    if data is None:
        raise Unreadable("the image has no kernel")
    used = data.data[flash.start - data.base : flash.stop - data.base]
    code = range(subject.tables.end, flash.start + len(used))
    headers = [
        Chunk(
            row.flash_base, subject.memory.find(row.flash_base, header_bytes(domain.ports)) or b""
        )
        for row, domain in zip(subject.tables.domains, subject.expected.domains, strict=False)
    ]
    chunks = sorted([Chunk(flash.start, used), *headers], key=lambda chunk: chunk.base)
    return Kernel(tuple(chunks), code, subject.ram_of("kernel"), vectors(subject))


@lru_cache(maxsize=2)
def analysis_of(kernel: Kernel) -> Analysis:
    """The analysis of a kernel; of one that was seen just before it is at hand."""
    return Analysis(kernel)


@dataclass(frozen=True)
class Analysis:
    """Summaries by vector; those of reset have no bound."""

    kernel: Kernel

    @cached_property
    def memory(self) -> Memory:
        """What the kernel may read of the flash."""
        return Memory(self.kernel.flash)

    @cached_property
    def _decoder(self) -> Decoder:
        return Decoder(self.memory)

    def _follower(self, merges: int, excused: Mapping[int, int] = MappingProxyType({})) -> Follower:
        stepper = Stepper(self.memory, self.kernel.ram, self.kernel.vectors[0])
        return Follower(stepper, self._decoder, self.kernel.code, merges, excused)

    def entry(self, vector: int) -> int:
        """Where a vector leads."""
        entry = self.kernel.vectors[vector] & ~1
        if entry not in self.kernel.code:
            raise Unreadable(f"vector {vector} leads out of the kernel's code")
        return entry

    @cached_property
    def reset(self) -> Summary:
        """From reset to the first thread."""
        return self._follower(_PRIORITY_REGISTERS).handler(self.entry(RESET), {})

    @cached_property
    def reset_without_unit(self) -> Summary:
        """As that, on a chip that has no protection unit."""
        memory = Memory((*self.kernel.flash, Chunk(_MPU_TYPE, bytes(4))))
        stepper = Stepper(memory, self.kernel.ram, self.kernel.vectors[0])
        follower = Follower(stepper, self._decoder, self.kernel.code, _PRIORITY_REGISTERS)
        return follower.handler(self.entry(RESET), {})

    @cached_property
    def _thorough(self) -> Follower:
        """Looks into everything, bound or not."""
        return self._follower(merges=_FEW_LOOKS)

    @cached_property
    def _strict(self) -> Follower:
        """Looks for a bound of everything."""
        return self._follower(merges=0)

    @cached_property
    def _excusing(self) -> Follower:
        """Doesn't look into what stops a faulted domain.

        That has loops over tables whose sizes are kept in RAM. A function that an interrupt of a
        line calls too is looked for a bound there.
        """
        follower = self._follower(merges=0)
        follower.handler(self.entry(FAULT), _specials(FAULT))
        return self._follower(merges=0, excused=follower.unbounded())

    @cached_property
    def handlers(self) -> dict[int, Summary]:
        """All but reset and the reserved ones, by vector."""
        found = {}
        for vector in range(2, len(self.kernel.vectors)):
            if vector not in RESERVED:
                follower = (
                    self._thorough
                    if vector in STOPPING
                    else self._excusing
                    if vector in MAY_STOP
                    else self._strict
                )
                found[vector] = follower.handler(self.entry(vector), _specials(vector))
        return found

    @cached_property
    def _held(self) -> Follower:
        """Takes it that VMs hold back what their BASEPRI may hold back, and no more."""
        stepper = Stepper(self.memory, self.kernel.ram, self.kernel.vectors[0])
        stepper.pointed = {(INT_MASK, 2): 0x100, (INT_MASK, 1): 0}
        return Follower(stepper, self._decoder, self.kernel.code)

    def held(self, vector: int) -> Summary:
        """An interrupt that comes then."""
        return self._held.handler(self.entry(vector), _specials(vector))

    def loads(self) -> Iterator[tuple[int, int]]:
        """First and last address of every load whose place is known."""
        for summary in (self.reset, *self.handlers.values()):
            yield from _loads(summary)

    def loads_of(self, vector: int) -> Iterator[tuple[int, int]]:
        """Those of one exception."""
        yield from _loads(self.handlers[vector])

    @property
    def stack_top(self) -> int:
        """What the main stack pointer holds at every entry."""
        return self.kernel.vectors[0]

    def observed(
        self, observer: Observer, enter: Callable[[tuple[int, ...]], Notes]
    ) -> Iterator[tuple[int, Summary]]:
        """Each handler followed with an observer: its first vector. `enter` has what is noted at
        the entry that some vectors have in common."""
        stepper = Stepper(self.memory, self.kernel.ram, self.stack_top)
        follower = Follower(
            stepper, self._decoder, self.kernel.code, _MORE_LOOKS, observer=observer
        )
        vectors = [n for n in range(2, len(self.kernel.vectors)) if n not in RESERVED]
        for entry in sorted({self.entry(n) for n in vectors}):
            mine = tuple(n for n in vectors if self.entry(n) == entry)
            numbers = mine[0] if len(mine) == 1 else Range(mine[0], mine[-1])
            specials = {"ipsr": numbers, "control": 0}
            yield mine[0], follower.handler(entry, specials, enter(mine))


def _loads(summary: Summary) -> Iterator[tuple[int, int]]:
    for effect in summary.effects:
        if isinstance(effect, Access) and not effect.is_store:
            bounds = limits(effect.place)
            if bounds is not None:
                yield bounds[0], bounds[1] + effect.size - 1
