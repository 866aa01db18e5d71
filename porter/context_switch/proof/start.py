"""Runs of a start that goes to the first task itself, or marks the first switch in PSP.

The original sets registers one by one and jumps. In its port VCT does it: the start pends a
supervisor call, which runs as soon as PRIMASK lets it, and leaves the task in USR_REG.
"""

from __future__ import annotations

import struct

from unicorn import arm_const as arm

from porter.context_switch.proof.emulate import CORE, SCRATCH, Emulator
from porter.context_switch.proof.emulated import unicorn
from porter.context_switch.proof.image import RETURN, STATE, TOP
from porter.context_switch.proof.model import (
    ONCE,
    PENDING,
    SWITCH,
    TRIGGER,
    UNMASKED,
    VCT_ACT,
)
from porter.context_switch.proof.outcome import Broken, FirstTask, Outcome, Stray
from porter.context_switch.proof.privileged import CONTROL
from porter.context_switch.proof.states import State

FRAME = 32  # bytes that an exception puts on a stack
SAVED = 9 + 16  # words that a switch handler may have put below it
THREAD_ON_PSP = 0xFFFF_FFFD  # EXC_RETURN of a task without FPU state
THUMB = 1 << 24  # xPSR of a task that begins
_SELECTS_PSP = 2
_LR, _SP = 8, 9  # places in USR_REG
_VCT_REGISTERS = [number << 20 | 9 for number in range(8)]


class StartEmulator(Emulator):
    """Runs one image of such a start from many states."""

    _handler: int | None = None  # what VCT runs once
    _pending = False
    _stopped = False  # to let VCT run
    _task: FirstTask | None = None

    def run(self, state: State) -> Outcome:
        """One run. Raises Stray and Broken."""
        self._handler, self._pending, self._stopped, self._task = None, False, False, None
        self._in_vct = False
        return super().run(state)

    def _set_stack(self, register: int, special: int) -> None:
        if special == CONTROL:
            value = self._get(arm.UC_ARM_REG_R0 + register)
            self._set(arm.UC_ARM_REG_CONTROL, value & _SELECTS_PSP)

    def _served(self, name: str, arguments: tuple[int, ...]) -> bool:
        if self._native:
            return False
        if name == ONCE:
            self._handler, self._pending = arguments[0], True
            self._shared.write(STATE + PENDING, b"\1")
        elif name != UNMASKED:
            return False
        if self._pending and not self._masks()[0]:
            self._stopped = True
            self._uc.emu_stop()
        return True

    def _emulate(self, start: int) -> int:
        end = super()._emulate(start)
        while self._stopped:
            self._stopped = self._pending = False
            back = self._get(arm.UC_ARM_REG_LR)
            if not self._run_vct():
                self._task = self._first_of_usr_reg()
                return end
            end = super()._emulate(back)
        return end

    def _run_vct(self) -> bool:
        """Run the supervisor call; whether a switch is requested then."""
        uc = self._uc
        if self._handler is None:
            raise Broken("pends a supervisor call that nobody handles")
        before, calls = uc.context_save(), len(self._outcome.events)
        self._shared.write(STATE + VCT_ACT, b"\1")
        self._registers(CORE, _VCT_REGISTERS)
        self._set(arm.UC_ARM_REG_LR, RETURN | 1)
        stack = self._get(arm.UC_ARM_REG_SP)
        self._in_vct = True
        end = super()._emulate(self._handler)
        self._in_vct = False
        if end != RETURN | 1 or stack != self._get(arm.UC_ARM_REG_SP):
            raise Broken("doesn't come back from what VCT runs")
        if self._read(CORE) != _VCT_REGISTERS:
            raise Broken("loses a register of VCT")
        uc.context_restore(before)
        self._shared.write(STATE + VCT_ACT, b"\0")
        requests = (TRIGGER, (SWITCH,))
        return any((it.name, it.arguments) == requests for it in self._outcome.events[calls:])

    def _finish(self, state: State, core: list[int], end: int) -> None:
        outcome = self._outcome
        if self._native and not outcome.ended and end != RETURN | 1:
            self._task = self._first_of_registers(end)
        elif self._task is None and not outcome.ended:
            self._check_return(state, core, end)
        outcome.first = self._task
        outcome.context = self._context(state) if self._native else self._usr_reg()
        if self._native:
            outcome.context[_SP] = self._get(arm.UC_ARM_REG_PSP)
        if self._native and self._task is not None:
            outcome.context[_LR] = THREAD_ON_PSP
            outcome.context[_SP] = self._task.sp - FRAME

    def _first_of_registers(self, target: int) -> FirstTask:
        stack = self._get(arm.UC_ARM_REG_SP)
        if stack == TOP:
            raise Broken(f"goes to {target:#x} on the stack it began with")
        if not any(base <= stack - FRAME <= base + size - FRAME for base, size in self.parts):
            raise Stray  # a task has a stack
        pc, xpsr = self._words(stack - 8, 2)
        registers = [*self._read(SCRATCH), self._get(arm.UC_ARM_REG_LR), target]
        xpsr = xpsr if (pc ^ target) & ~1 == 0 else THUMB
        return self._task_at(stack, (*registers, xpsr), self._read(CORE))

    def _first_of_usr_reg(self) -> FirstTask:
        words = self._usr_reg()
        stack = words[_SP] + FRAME
        frame = self._words(words[_SP], FRAME // 4)
        return self._task_at(stack, tuple(frame), words[: len(CORE)])

    def _task_at(self, stack: int, frame: tuple[int, ...], core: list[int]) -> FirstTask:
        saved = self._words(stack - FRAME - 4 * SAVED, SAVED)
        return FirstTask(stack, tuple(core), frame, tuple(reversed(saved)))

    def _words(self, address: int, count: int) -> list[int]:
        """Words of a task's stack; 0 where there is no memory: then the port has none either."""
        try:
            return list(struct.unpack(f"<{count}I", self._uc.mem_read(address, 4 * count)))
        except unicorn.UcError:
            return [0] * count
