"""Follows the kernel's handlers with notes, and collects what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from composer.verify.code.decode import SP, Instruction, Register
from composer.verify.code.effects import Access, Floating, Next, Special
from composer.verify.code.follow import NO_BOUND, Summary
from composer.verify.code.state import Notes, State
from composer.verify.code.values import Outer, Stack, Value
from composer.verify.memory import Memory
from composer.verify.ownership.exits import Exit, Handler, System
from composer.verify.ownership.ledger import Ledger, opened
from composer.verify.ownership.noted import noted
from composer.verify.ownership.switches import Switch
from composer.verify.ownership.terms import (
    CPACR_REGISTER,
    CURRENT,
    MPU_CTRL,
    PSP_BIT,
    STACK,
    VCPU,
    WORD,
    Field,
    Given,
    Own,
)
from composer.verify.ownership.words import Setting, Words

_MPU = range(0xE000ED94, 0xE000EDBC, 4)


@dataclass(frozen=True)
class _Done:
    """What a function of the kernel does that matters here."""

    stores: frozenset[int]  # addresses
    frame: frozenset[int]  # offsets of words in the caller's frame
    specials: frozenset[str]
    floats: bool
    problems: frozenset[str]


class Watch:
    """An observer of the paths of handlers."""

    def __init__(self, system: System, cpu: int, memory: Memory, stack_top: int) -> None:
        self.system, self.cpu, self.stack_top = system, cpu, stack_top
        self.setting = Setting(cpu, memory, self.report)
        self.problems: set[str] = set()
        self.of = Handler.OTHER
        self._done: dict[int, _Done] = {}

    def enter(self, of: Handler) -> Ledger:
        """The notes at the entry of a handler."""
        self.of = of
        self.problems.clear()
        from_thread = ((Own("lr"), PSP_BIT, False),) if of == Handler.CALL else ()
        return opened(self.cpu, *from_thread)

    def report(self, at: int, problem: str) -> None:
        """Something is wrong at an address."""
        self.problems.add(f"{problem}, at 0x{at:08x}")

    # --- as a witness ---------------------------------------------------------------------

    def passed(
        self, before: State, instruction: Instruction, way: Next, executed: bool
    ) -> Notes | None:
        """The notes behind an instruction."""
        ledger = before.notes
        assert isinstance(ledger, Ledger)
        told = _told(ledger, before, instruction, way, executed)
        if told is None or not executed:
            return told
        return noted(self.setting, before, instruction, told)

    def left(self, state: State, instruction: Instruction) -> None:
        """An exception return."""
        ledger = state.notes
        assert isinstance(ledger, Ledger)
        operand = instruction.operands[0] if instruction.name == "bx" else None
        if not isinstance(operand, Register):
            self.report(instruction.address, "the handler isn't left by bx")
            return
        target = Words(self.setting, state, instruction, ledger).term(operand.number)
        for problem in self._wrong(Exit(self.system, ledger, target, self.of)):
            self.report(instruction.address, problem)

    def _wrong(self, leaving: Exit) -> Iterator[str]:
        if leaving.ledger.masked is not False:
            yield "interrupts may be masked (PRIMASK)"
        running = leaving.ledger.words.get((0, self.cpu))
        if running is None:
            yield "it isn't known which thread is to run"
        elif running == CURRENT:
            yield from leaving.back()
        else:
            yield from Switch(leaving, running).problems()

    def called(self, state: State, at: int, summary: Summary) -> Notes:
        """The notes behind a call."""
        assert isinstance(state.notes, Ledger)
        if self.of == Handler.DEFERRED and state.notes.masked is not True:
            self.report(at, "the deferred work may be interrupted (PRIMASK)")
        done = self._does(summary)
        for problem in done.problems:
            self.problems.add(problem)
        if done.floats:
            self.report(at, "a function works on floating-point registers")
        for name in done.specials - {"psp"}:
            self.report(at, f"a function writes {name}")
        ledger = _above(state.notes.after_call(), state.registers[SP])
        if "psp" in done.specials:
            if self.of != Handler.CALL:
                self.report(at, "a function writes psp")
            ledger = replace(ledger, psp=Given("psp"))
        if done.stores.intersection(_MPU):
            ledger = replace(ledger, protection=(None,) * len(ledger.protection))
        for address in done.stores & {self.cpu, MPU_CTRL, CPACR_REGISTER}:
            ledger = ledger.store((0, address), None)
        for (base, offset), _ in ledger.memory:
            if base == STACK and offset in done.frame:
                ledger = ledger.store((base, offset), None)
            elif base == STACK and self.stack_top + offset in done.stores:
                ledger = ledger.store((base, offset), Given("lr") if offset == -4 else None)
        return ledger

    def _does(self, summary: Summary) -> _Done:
        if id(summary) not in self._done:
            effects = summary.effects
            self._done[id(summary)] = _Done(
                frozenset(
                    e.place
                    for e in effects
                    if isinstance(e, Access) and e.is_store and isinstance(e.place, int)
                ),
                frozenset(
                    (e.place.place.offset + e.place.offset) & ~3
                    for e in effects
                    if isinstance(e, Access) and e.is_store
                    if isinstance(e.place, Outer) and isinstance(e.place.place, Stack)
                ),
                frozenset(e.name for e in effects if isinstance(e, Special) and e.written),
                any(isinstance(e, Floating) for e in effects),
                frozenset(p for p in summary.problems if not p.startswith(NO_BOUND)),
            )
        return self._done[id(summary)]


def _above(ledger: Ledger, pointer: Value) -> Ledger:
    """Without what lies below the stack pointer, which a function used."""
    low = pointer.offset if isinstance(pointer, Stack) else 0
    return ledger.remembering(lambda place: place[0] != STACK or place[1] >= low)


def _told(
    ledger: Ledger, before: State, instruction: Instruction, way: Next, executed: bool
) -> Ledger | None:
    """With what a condition tells; None when it contradicts what was known."""
    if instruction.name in ("cbz", "cbnz"):
        register = instruction.operands[0]
        assert isinstance(register, Register)
        term = ledger.registers[register.number]
        taken = way.state.pc != instruction.end
        if term != Field(CURRENT, VCPU):
            return ledger
        return ledger.learnt((term, WORD, taken == (instruction.name == "cbz")))
    if ledger.tested is None or instruction.condition not in ("eq", "ne"):
        return ledger
    return ledger.learnt((*ledger.tested, (instruction.condition == "eq") == executed))
