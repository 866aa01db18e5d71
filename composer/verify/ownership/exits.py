"""What has to hold where the kernel returns to a thread."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from composer.verify.ownership.ledger import Ledger
from composer.verify.ownership.moves import CPACR_REGISTER, MPU_CTRL, from_boot, unsaved
from composer.verify.ownership.terms import (
    BASIC,
    CALLER,
    CPACR,
    CURRENT,
    DOMAIN,
    FRAME_BIT,
    KEPT,
    PORT_PLACE,
    PORT_THREAD,
    PSP_BIT,
    RETURN_BITS,
    USR,
    VCPU,
    VCT,
    WORD,
    Field,
    Given,
    Own,
    Resumes,
    Term,
    context,
    kept,
    number_of,
    saved_slot,
)

SAVED_FLOATS = tuple(f"s{n}" for n in range(16, 32))
_PROTECTED = 5  # MPU_CTRL: ENABLE and PRIVDEFENA


@dataclass(frozen=True)
class System:
    """What decides which registers a thread has."""

    fpu: bool  # of the core
    process_fpu: bool  # a process may use it
    vms: bool


class Handler(Enum):
    """What a handler may do that others may not."""

    CALL = 1  # it is entered from threads alone
    FAULT = 2  # it stops threads, which PendSV switches from
    DEFERRED = 3  # PendSV, which starts the first thread
    OTHER = 4


@dataclass(frozen=True)
class Exit:
    """An exception return: what is in `bx`'s register, and in which handler."""

    system: System
    ledger: Ledger
    target: Term
    cpu: int
    of: Handler

    def problems(self) -> Iterator[str]:
        """Everything that is wrong with it."""
        if self.ledger.masked is not False:
            yield "interrupts may be masked (PRIMASK)"
        running = self.ledger.words.get((0, self.cpu))
        if running is None:
            yield "it isn't known which thread is to run"
        elif running == CURRENT:
            yield from self._back()
        else:
            yield from _On(self, running).problems()

    # --- to whom was interrupted ----------------------------------------------------------

    def _back(self) -> Iterator[str]:
        lost = [n for n in KEPT if self.ledger.registers[number_of(n)] != Own(n)]
        if lost:
            yield f"{listed(lost)} of the interrupted thread changed"
        given = (self.ledger.psp, self.target) == (Given("psp"), Given("lr"))
        if self.ledger.psp != Own("psp") and not given:
            yield "PSP of the interrupted thread changed"
        stopped = self.of == Handler.FAULT and self.target == BASIC
        if self.target != Own("lr") and not given and not stopped:
            yield "EXC_RETURN of the interrupted thread changed"
        if self.system.fpu and any(
            term is None or not isinstance(term, Own) for term in self.ledger.floats
        ):
            yield "floating-point registers of the interrupted thread changed"
        if not self.protected_for(CURRENT):
            yield "the protection isn't that of the interrupted thread"

    # --- common ---------------------------------------------------------------------------

    def is_known(self, term: Term, other: Term, is_zero: bool) -> bool:
        """Whether a test came out so, on every way here."""
        return (term, other, is_zero) in self.ledger.facts

    def protected_for(self, thread: Term) -> bool:
        """Whether the protection registers are as the thread's domain has them."""
        domain, words = Field(thread, DOMAIN), self.ledger.words
        if self.shares_domain(thread) and all(
            word == Own("protection") for word in self.ledger.protection
        ):
            return words.get((0, MPU_CTRL)) is None and (0, CPACR_REGISTER) not in words
        return (
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


class _On:
    """An exit to another thread than the one that was interrupted."""

    def __init__(self, exit_: Exit, thread: Term) -> None:
        self.exit, self.ledger, self.thread = exit_, exit_.ledger, thread
        self.system = exit_.system
        port = thread.base if isinstance(thread, Field) and thread.offset == PORT_THREAD else None
        self.enters_port = port is not None and self.ledger.psp == Field(port, PORT_PLACE)

    def problems(self) -> Iterator[str]:
        yield from self._saved()
        strangers = [
            n
            for n in KEPT
            if self.ledger.registers[number_of(n)] != kept(self.thread, saved_slot(n))
        ]
        if strangers:
            yield f"{listed(strangers)} isn't from the context of the thread that runs next"
        if not self.enters_port and self.ledger.psp != kept(self.thread, saved_slot("psp")):
            yield "PSP isn't from the context of the thread that runs next"
        if not self._resumes():
            yield "EXC_RETURN isn't that of the thread that runs next"
        if self.system.fpu:
            yield from self._floats()
        if not self.exit.protected_for(self.thread):
            yield "the protection isn't that of the thread that runs next"

    def _saved(self) -> Iterator[str]:
        """The interrupted thread can go on later: its context has everything."""
        if self.thread == CALLER:
            return  # it is through, and starts anew when it is invoked
        if from_boot(self.ledger) and self.exit.of == Handler.DEFERRED:
            return  # boot: there is none
        if not self.exit.is_known(Own("lr"), PSP_BIT, False):
            yield "what was interrupted may be no thread"
        lost = unsaved(self.ledger, (*KEPT, "lr", "psp"))
        lr, psp = (self.ledger.words.get((context(CURRENT), saved_slot(n))) for n in ("lr", "psp"))
        if not lost and isinstance(lr, Given) != isinstance(psp, Given):
            lost = ["lr or psp"]
        if lost:
            yield f"{listed(lost)} of the interrupted thread isn't in its context"
        if self.system.fpu and not self._has_no_floats() and unsaved(self.ledger, SAVED_FLOATS):
            yield "floating-point registers of the interrupted thread aren't in its context"

    def _has_no_floats(self) -> bool:
        """The interrupted thread: by its frame, or as a process where none has."""
        is_process = not self.system.vms or self.exit.is_known(Field(CURRENT, VCPU), WORD, True)
        lr = self.ledger.words.get((context(CURRENT), saved_slot("lr")))
        basic = self.exit.is_known(lr, FRAME_BIT, False)
        return basic or (is_process and not self.system.process_fpu)

    def _may_not_use_fpu(self) -> bool:
        """The next thread, as far as a branch told."""
        return self.exit.is_known(Field(self.thread, RETURN_BITS), FRAME_BIT, False)

    def _is_plain(self) -> bool:
        """Between processes where none may use the FPU."""
        return self.exit.target == BASIC and not self.system.process_fpu

    def _resumes(self) -> bool:
        bits = Field(self.thread, RETURN_BITS)
        if self.exit.target == Resumes(self.thread):
            return True
        if self.exit.target == bits:
            return not self.system.fpu or self._may_not_use_fpu()
        fits = not self.system.fpu or not self.system.process_fpu or self.enters_port
        return self.exit.target == BASIC and fits

    def _floats(self) -> Iterator[str]:
        """Its own ones, or nothing that it may not know."""
        if not self.exit.shares_domain(self.thread) and not self._is_plain():
            rights = self.ledger.words.get((0, CPACR_REGISTER))
            if rights != Field(Field(self.thread, DOMAIN), CPACR):
                yield "CPACR isn't that of the thread that runs next"
        if self._may_not_use_fpu() or self._is_plain():
            return
        if self.exit.is_known(self.exit.target, FRAME_BIT, True):
            own = (kept(self.thread, saved_slot(name)) for name in SAVED_FLOATS)
            if tuple(own) != self.ledger.floats[16:32]:
                yield "S16 to S31 aren't from the context of the thread that runs next"
        elif not self.exit.is_known(self.exit.target, FRAME_BIT, False) and not self.enters_port:
            yield "it isn't known whether the next thread has floating-point registers"
        elif not self.exit.shares_domain(self.thread) and any(t != 0 for t in self.ledger.floats):
            yield "floating-point registers of another domain are left to the next thread"


def listed(names: Iterable[str]) -> str:
    """In words."""
    return ", ".join(names)
