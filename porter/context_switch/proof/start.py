"""Runs of a start that goes to the first task itself, or marks the first switch in PSP.

The original sets registers one by one and jumps. In its port VCT does it: the start pends a
supervisor call, which runs as soon as PRIMASK lets it, and leaves the task in USR_REG.

Who called it may have used the FPU, with modes of his own in FPSCR. What begins FPU state anew is
followed here, not left to the emulator, which has a secure state that these cores haven't.
"""

from __future__ import annotations

import struct
from typing import Any

from unicorn import arm_const as arm

from porter.context_switch.proof.emulate import CORE, SCRATCH, Emulator
from porter.context_switch.proof.emulated import unicorn
from porter.context_switch.proof.image import RETURN, STATE, TOP, Image
from porter.context_switch.proof.model import (
    MODES,
    ONCE,
    PENDING,
    SWITCH,
    TRIGGER,
    UNMASKED,
    VCT_ACT,
    Model,
)
from porter.context_switch.proof.outcome import Broken, FirstTask, Outcome, Stray
from porter.context_switch.proof.privileged import CONTROL
from porter.context_switch.proof.states import Effects, State
from porter.context_switch.proof.walk import reachable

FRAME = 32  # bytes that an exception puts on a stack
FPU_FRAME = FRAME + 4 * 18  # with S0-S15, FPSCR and a word that nobody reads
FPSCR = FRAME + 4 * 16  # where that is
SAVED = 9 + 16  # words that a switch handler may have put below it
THREAD_ON_PSP = 0xFFFF_FFFD  # EXC_RETURN of a task without FPU state
THREAD_WITH_FPU = 0xFFFF_FFED
THUMB = 1 << 24  # xPSR of a task that begins
FPCA = 4  # of CONTROL
_SELECTS_PSP = 2
_LR, _SP = 8, 9  # places in USR_REG
_VCT_REGISTERS = [number << 20 | 9 for number in range(8)]


class StartEmulator(Emulator):
    """Runs one image of such a start from many states."""

    _handler: int | None = None  # what VCT runs once
    _pending = False
    _stopped = False  # to let VCT run
    _task: FirstTask | None = None
    _has_state = True  # FPU state, with these modes
    _modes = MODES
    _used = False  # the FPU

    def __init__(self, image: Image, model: Model, variables: int, native: bool) -> None:
        super().__init__(image, model, variables, native)
        found = reachable(image, True, into_data=True) if native else {}
        self._floats = {it for it, instruction in found.items() if instruction.is_float}
        self._remarkable |= self._floats

    def run(self, state: State) -> Outcome:
        """One run. Raises Stray and Broken."""
        self._handler, self._pending, self._stopped, self._task = None, False, False, None
        self._has_state, self._modes, self._used = True, MODES, False
        self._in_vct = False
        return super().run(state)

    def _start(self, state: State) -> None:
        super()._start(state)
        if self._native:
            self._set(arm.UC_ARM_REG_CONTROL, FPCA)

    def _look(self, uc: Any, address: int) -> None:
        if address in self._floats:
            self._modes = self._modes if self._has_state else 0
            self._has_state = self._used = True
        super()._look(uc, address)

    def _affect(self, effect: Effects) -> None:
        super()._affect(effect)
        self._has_state, self._modes = True, MODES  # who is called may use the FPU

    def _set_stack(self, register: int, special: int) -> None:
        if special == CONTROL:
            value = self._get(arm.UC_ARM_REG_R0 + register)
            self._set(arm.UC_ARM_REG_CONTROL, value & (_SELECTS_PSP | FPCA))
            self._has_state = value & FPCA != 0

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
            outcome.context[_LR] = THREAD_ON_PSP if self._task.fpscr is None else THREAD_WITH_FPU
            outcome.context[_SP] = self._task.sp - size_of(self._task)

    def _first_of_registers(self, target: int) -> FirstTask:
        stack = self._get(arm.UC_ARM_REG_SP)
        if stack == TOP:
            raise Broken(f"goes to {target:#x} on the stack it began with")
        fpscr = self._modes if self._used and self._has_state else None
        place = stack - (FRAME if fpscr is None else FPU_FRAME)
        if not any(base <= place <= base + size - (stack - place) for base, size in self.parts):
            raise Stray  # a task has a stack
        pc, xpsr = self._words(place + 24, 2)
        registers = [*self._read(SCRATCH), self._get(arm.UC_ARM_REG_LR), target]
        xpsr = xpsr if (pc ^ target) & ~1 == 0 else THUMB
        return self._task_at(stack, place, (*registers, xpsr), self._read(CORE), fpscr)

    def _first_of_usr_reg(self) -> FirstTask:
        words = self._usr_reg()
        place, fpscr = words[_SP], None
        if words[_LR] == THREAD_WITH_FPU:
            (fpscr,) = self._words(place + FPSCR, 1)
            fpscr &= MODES
        stack = place + (FRAME if fpscr is None else FPU_FRAME)
        frame = self._words(place, FRAME // 4)
        return self._task_at(stack, place, tuple(frame), words[: len(CORE)], fpscr)

    def _task_at(
        self, stack: int, place: int, frame: tuple[int, ...], core: list[int], fpscr: int | None
    ) -> FirstTask:
        saved = self._words(place - 4 * SAVED, SAVED)
        return FirstTask(stack, tuple(core), frame, tuple(reversed(saved)), fpscr)

    def _words(self, address: int, count: int) -> list[int]:
        """Words of a task's stack; 0 where there is no memory: then the port has none either."""
        try:
            return list(struct.unpack(f"<{count}I", self._uc.mem_read(address, 4 * count)))
        except unicorn.UcError:
            return [0] * count


def size_of(task: FirstTask) -> int:
    """Bytes of its exception frame."""
    return FRAME if task.fpscr is None else FPU_FRAME
