"""What has to hold where the kernel returns to the thread that it interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from composer.verify.ownership.ledger import Ledger
from composer.verify.ownership.terms import (
    BASIC,
    CPACR_REGISTER,
    CURRENT,
    DOMAIN,
    KEPT,
    MPU_CTRL,
    USR,
    VCPU,
    VCT,
    Field,
    Given,
    Own,
    Term,
    number_of,
)

_PROTECTED = 5  # MPU_CTRL: ENABLE and PRIVDEFENA


class Handler(Enum):
    """What a handler may do that others may not."""

    CALL = 1  # it is entered from threads alone
    FAULT = 2  # it stops threads, which PendSV switches from
    DEFERRED = 3  # PendSV, which starts the first thread
    OTHER = 4


@dataclass(frozen=True)
class System:
    """What decides which registers a thread has."""

    fpu: bool  # of the core
    process_fpu: bool  # a process may use it
    vms: bool


@dataclass(frozen=True)
class Exit:
    """An exception return: what is in `bx`'s register, and in which handler."""

    system: System
    ledger: Ledger
    target: Term
    of: Handler

    def back(self) -> Iterator[str]:
        """What is wrong when the interrupted thread goes on."""
        registers = self.ledger.registers
        lost = [n for n in KEPT if registers[number_of(n)] != Own(n)]
        if lost:
            yield f"{', '.join(lost)} of the interrupted thread changed"
        given = (self.ledger.psp, self.target) == (Given("psp"), Given("lr"))
        if self.ledger.psp != Own("psp") and not given:
            yield "PSP of the interrupted thread changed"
        stopped = self.of == Handler.FAULT and self.target == BASIC
        if self.target != Own("lr") and not given and not stopped:
            yield "EXC_RETURN of the interrupted thread changed"
        if self.system.fpu and not all(isinstance(term, Own) for term in self.ledger.floats):
            yield "floating-point registers of the interrupted thread changed"
        if not self.protects(CURRENT):
            yield "the protection isn't that of the interrupted thread"

    def is_known(self, term: Term, other: Term, is_zero: bool) -> bool:
        """Whether a test came out so, on every way here."""
        return (term, other, is_zero) in self.ledger.facts

    def protects(self, thread: Term) -> bool:
        """Whether the protection registers are as the thread's domain has them."""
        domain, words = Field(thread, DOMAIN), self.ledger.words
        untouched = (
            all(word == Own("protection") for word in self.ledger.protection)
            and (0, MPU_CTRL) not in words
            and (0, CPACR_REGISTER) not in words
        )
        return (untouched and self.shares_domain(thread)) or (
            all(word == domain for word in self.ledger.protection)
            and words.get((0, MPU_CTRL)) == _PROTECTED
        )

    def shares_domain(self, thread: Term) -> bool:
        """Whether a thread is known to be of the interrupted one's domain."""
        mine, other = Field(CURRENT, DOMAIN), Field(thread, DOMAIN)
        vcpu = Field(CURRENT, VCPU)
        return (
            thread in (CURRENT, Field(vcpu, VCT), Field(vcpu, USR))
            or self.is_known(mine, other, True)
            or self.is_known(other, mine, True)
        )
