"""What has to hold where the kernel returns to another thread than the one that it interrupted."""

from __future__ import annotations

from collections.abc import Iterator

from composer.verify.ownership.exits import Exit, Handler
from composer.verify.ownership.terms import (
    BASIC,
    CALL_FRAME,
    CALLER,
    CPACR,
    CPACR_REGISTER,
    CURRENT,
    DOMAIN,
    FRAME_BIT,
    KEPT,
    PORT_CALL,
    PORT_PLACE,
    PORT_THREAD,
    PSP_BIT,
    RETURN_BITS,
    VCPU,
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
from composer.verify.ownership.words import from_boot, unsaved

_FLOATS = tuple(f"s{n}" for n in range(16, 32))


class Switch:
    """An exit to a thread."""

    def __init__(self, exit_: Exit, thread: Term) -> None:
        self.exit, self.ledger, self.thread = exit_, exit_.ledger, thread
        self.system = exit_.system
        port = thread.base if isinstance(thread, Field) and thread.offset == PORT_THREAD else None
        self.port = port if self.ledger.psp == Field(port, PORT_PLACE) else None

    def problems(self) -> Iterator[str]:
        """Everything that is wrong with it."""
        yield from self._saved()
        registers = self.ledger.registers
        strangers = [n for n in KEPT if registers[number_of(n)] != kept(self.thread, saved_slot(n))]
        if strangers:
            yield f"{', '.join(strangers)} isn't from the context of the thread that runs next"
        if self.port is not None:
            yield from self._called()
        elif self.ledger.psp != kept(self.thread, saved_slot("psp")):
            yield "PSP isn't from the context of the thread that runs next"
        if not self._resumes():
            yield "EXC_RETURN isn't that of the thread that runs next"
        if self.system.fpu:
            yield from self._floats()
        if not self.exit.protects(self.thread):
            yield "the protection isn't that of the thread that runs next"

    # --- the interrupted thread -----------------------------------------------------------

    def _saved(self) -> Iterator[str]:
        """It can go on later: its context has everything."""
        if self.thread == CALLER:
            return  # it is through, and starts anew when it is invoked
        if from_boot(self.ledger) and self.exit.of == Handler.DEFERRED:
            return  # there is none
        if not self.exit.is_known(Own("lr"), PSP_BIT, False):
            yield "what was interrupted may be no thread"
        lost = unsaved(self.ledger, (*KEPT, "lr", "psp"))
        given = [isinstance(self._saved_as(name), Given) for name in ("lr", "psp")]
        if lost or given[0] != given[1]:
            names = ", ".join(lost or ("lr", "psp"))
            yield f"{names} of the interrupted thread isn't in its context"
        if self.system.fpu and not self._has_no_floats() and unsaved(self.ledger, _FLOATS):
            yield "floating-point registers of the interrupted thread aren't in its context"

    def _saved_as(self, name: str) -> Term:
        return self.ledger.words.get((context(CURRENT), saved_slot(name)))

    def _has_no_floats(self) -> bool:
        """By its frame, or as a process where none has."""
        is_process = not self.system.vms or self.exit.is_known(Field(CURRENT, VCPU), WORD, True)
        basic = self.exit.is_known(self._saved_as("lr"), FRAME_BIT, False)
        return basic or (is_process and not self.system.process_fpu)

    # --- the next one ---------------------------------------------------------------------

    def _called(self) -> Iterator[str]:
        """It enters a port: its frame has the caller's arguments and what the port starts with."""
        words, place = self.ledger.words, Field(self.port, PORT_PLACE)
        argument = [Field(Own("psp"), 4 * n) for n in (1, 2, 3)]
        rest = [Field(self.port, PORT_CALL + 4 * n) for n in range(CALL_FRAME - len(argument))]
        for number, wanted in enumerate((*argument, *rest)):
            if words.get((place, 4 * number)) != wanted:
                yield f"word {number} of the frame isn't what its port is entered with"

    def _resumes(self) -> bool:
        target, bits = self.exit.target, Field(self.thread, RETURN_BITS)
        if target == Resumes(self.thread):
            return True
        if target == bits:
            return not self.system.fpu or self._may_not_use_fpu()
        fits = not self.system.fpu or not self.system.process_fpu or self.port is not None
        return target == BASIC and fits

    def _may_not_use_fpu(self) -> bool:
        """As far as a branch told."""
        return self.exit.is_known(Field(self.thread, RETURN_BITS), FRAME_BIT, False)

    def _has_floats(self) -> bool:
        """As far as branches told: of EXC_RETURN, or of both that it is made of."""
        saved, bits = kept(self.thread, saved_slot("lr")), Field(self.thread, RETURN_BITS)
        made = self.exit.target == Resumes(self.thread) and all(
            self.exit.is_known(term, FRAME_BIT, True) for term in (saved, bits)
        )
        return made or self.exit.is_known(self.exit.target, FRAME_BIT, True)

    def _is_basic(self) -> bool:
        saved = kept(self.thread, saved_slot("lr"))
        made = self.exit.target == Resumes(self.thread) and self.exit.is_known(
            saved, FRAME_BIT, False
        )
        return made or self.exit.is_known(self.exit.target, FRAME_BIT, False)

    def _floats(self) -> Iterator[str]:
        """Its own ones, or nothing that it may not know."""
        if self.exit.target == BASIC and not self.system.process_fpu:
            return  # between processes, none of which may use the FPU
        rights = Field(Field(self.thread, DOMAIN), CPACR)
        shares = self.exit.shares_domain(self.thread)
        if not shares and self.ledger.words.get((0, CPACR_REGISTER)) != rights:
            yield "CPACR isn't that of the thread that runs next"
        if self._may_not_use_fpu():
            return
        if self._has_floats():
            own = tuple(kept(self.thread, saved_slot(name)) for name in _FLOATS)
            if own != self.ledger.floats[16:32]:
                yield "S16 to S31 aren't from the context of the thread that runs next"
        elif not self._is_basic() and self.port is None:
            yield "it isn't known whether the next thread has floating-point registers"
        elif not shares and any(term != 0 for term in self.ledger.floats):
            yield "floating-point registers of another domain are left to the next thread"
