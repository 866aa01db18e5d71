"""Loads and stores of one instruction, by where the words come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from composer.verify.code.decode import PC, Address, Instruction
from composer.verify.code.state import State
from composer.verify.code.transfers import address_of
from composer.verify.code.values import Stack
from composer.verify.memory import Memory
from composer.verify.ownership.ledger import Ledger
from composer.verify.ownership.terms import (
    CALLER,
    CONTEXT,
    CPACR_REGISTER,
    CURRENT,
    KEPT,
    MPU_CTRL,
    MPU_WORDS,
    NEXT,
    PROTECTION,
    PSP_BIT,
    STACK,
    Born,
    Field,
    Given,
    Own,
    Place,
    Term,
    context,
    field,
    is_kept,
    is_steady,
    place_at,
    saved_slot,
)

_ALIASES = len(MPU_WORDS)


@dataclass(frozen=True)
class Setting:
    """What doesn't change: where the kernel keeps who runs, and what the image holds."""

    cpu: int
    memory: Memory
    report: Callable[[int, str], None]  # a problem: where, and what


@dataclass
class Words:
    """One instruction: what was known before it, and the ledger while it becomes that behind it."""

    setting: Setting
    before: State
    instruction: Instruction
    ledger: Ledger

    def term(self, register: int) -> Term:
        """What is known of a register."""
        known = self.ledger.registers[register]
        if known is not None:
            return known
        value = self.before.get(register)
        return value if isinstance(value, int) else None

    def put(self, register: int, term: Term) -> None:
        """Another term in a register; the state has the numbers."""
        self.ledger = self.ledger.put(register, None if isinstance(term, int) else term)

    def forget(self) -> None:
        """What the instruction writes is something else."""
        for register in range(PC):
            if self.instruction.writes >> register & 1:
                self.put(register, None)

    def born(self, number: int) -> Term:
        """Something new that only is known to be itself."""
        new = Born(self.instruction.address, number)
        self.ledger = self.ledger.without(new)
        return new

    def report(self, problem: str) -> None:
        """The instruction does what it must not."""
        self.setting.report(self.instruction.address, problem)

    def place(self, register: int, offset: int) -> Place | None:
        """Some bytes behind where a register points."""
        value = self.before.get(register)
        if isinstance(value, Stack):
            return STACK, value.offset + offset
        if isinstance(value, int):
            return place_at(value & ~3 if register == PC else value, offset)
        return place_at(self.ledger.registers[register], offset)

    def addressed(self, where: Address) -> Place | None:
        """The place of a memory operand, without a post-index."""
        if where.index is None:
            return self.place(where.base, where.offset) if where.base >= 0 else None
        value = address_of(self.before, where)
        return place_at(value, 0) if isinstance(value, int) else None

    # --- loads ----------------------------------------------------------------------------

    def load(self, place: Place | None, number: int) -> Term:
        """The word at a place."""
        if place is None:
            return self.born(number)
        base, offset = place
        known = self.ledger.words.get(place)
        if known is not None:
            return known
        if place in self.ledger.words or base == STACK or offset % 4:
            return self.born(number)
        if base == 0:
            return self._load_known(offset, number)
        if not is_steady(base, offset) or self._is_early(base):
            return self.born(number)
        return field(base, offset)

    def _load_known(self, address: int, number: int) -> Term:
        """The word at an address: of flash, or of the kernel's variables."""
        stored = self.setting.memory.word(address)
        if stored is not None:
            return stored
        new = self.born(number)
        if address == self.setting.cpu + NEXT:
            self.ledger = self.ledger.store((0, address), new)
        return new

    def _is_early(self, base: Term) -> bool:
        """Whether it is a context that may be the interrupted thread's, which isn't saved yet."""
        if not isinstance(base, Field) or base.offset != CONTEXT:
            return False
        if base == CALLER or base.base in (CURRENT, CALLER) or from_boot(self.ledger):
            return False
        return bool(unsaved(self.ledger, (*KEPT, "lr", "psp")))

    # --- stores ---------------------------------------------------------------------------

    def store(self, place: Place | None, term: Term) -> None:
        """After a store of a word."""
        self._guard(place, term)
        if place is None:
            return
        base, offset = place
        if base == 0 and offset in MPU_WORDS:
            self._protect(MPU_WORDS.index(offset), term)
        elif base == STACK or is_steady(base, offset) or (base == 0 and self._matters(offset)):
            self._remember(base, offset, term)

    def store_part(self, place: Place | None) -> None:
        """After a store of less than a word."""
        if place is not None:
            self.store((place[0], place[1] & ~3), None)

    def _remember(self, base: Term, offset: int, term: Term) -> None:
        first = offset & ~3
        if first == offset:
            self.ledger = self.ledger.store((base, offset), term)
        else:
            self.ledger = self.ledger.store((base, first), None).store((base, first + 4), None)

    def _matters(self, address: int) -> bool:
        cpu = self.setting.cpu
        return address in (cpu, cpu + NEXT, MPU_CTRL, CPACR_REGISTER)

    def _guard(self, place: Place | None, term: Term) -> None:
        """A thread's registers go to its context and to the kernel's stack, nowhere else; nothing
        goes to the context of another one."""
        base = None if place is None else place[0]
        of_thread = isinstance(base, Field) and base.offset == CONTEXT
        if of_thread and base not in (context(CURRENT), CALLER):
            self.report("the context of a thread that doesn't run is changed")
        name = term.register if isinstance(term, Own) else ""
        if name not in KEPT and name[:1] != "s" and not is_kept(term):
            return
        if base not in (STACK, context(CURRENT)):
            self.report(f"{name or 'a word of a context'} is stored elsewhere")

    def _protect(self, alias: int, term: Term) -> None:
        """A word for the protection registers; one that isn't a domain's may end up in any."""
        words: list[Term] = [None] * len(self.ledger.protection)
        if isinstance(term, Field):
            number, left = divmod(term.offset - PROTECTION, 4)
            if not left and number in range(len(words)) and number % _ALIASES == alias:
                words = list(self.ledger.protection)
                words[number] = term.base
        self.ledger = replace(self.ledger, protection=tuple(words))


def from_boot(ledger: Ledger) -> bool:
    """Whether it is known that no thread was interrupted."""
    return (Own("lr"), PSP_BIT, True) in ledger.facts


def unsaved(ledger: Ledger, names: Iterable[str]) -> list[str]:
    """Those of the interrupted thread's registers that its context doesn't hold."""
    words, base = ledger.words, context(CURRENT)
    return [
        name
        for name in names
        if words.get((base, saved_slot(name))) not in (Own(name), Given(name))
    ]
