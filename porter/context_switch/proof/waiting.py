"""Runs of a handler that waits in a loop, and of its port, of which USR waits: see `idle`.

Others change memory at each wait, but for the first, which shows whether it waits for that.
"""

from __future__ import annotations

import struct
from typing import Any

from unicorn import arm_const as arm

from porter.context_switch.proof.emulate import Emulator
from porter.context_switch.proof.idle_loop import MASKED, ON_STACK, UNASKED, Loop, loop_of
from porter.context_switch.proof.image import RETURN, STATE, TOP, Image
from porter.context_switch.proof.model import IDLE, IDLES, USR_REG, Model
from porter.context_switch.proof.outcome import Broken
from porter.context_switch.proof.privileged import SHORT_NOP, waits
from porter.context_switch.proof.states import State

_MOST_WAITS = 6
_NO_STACK = 0x3000_0000  # of the library's context: no memory of a port's is there
_THREAD_ON_PSP = 0xFFFF_FFFD


class WaitingEmulator(Emulator):
    """Runs one image from many states."""

    _loop: Loop | None = None  # of the original
    _rounds = 0  # how often it waited
    _idled = False  # the port lets USR wait
    _idles = False  # and begins behind that

    def __init__(self, image: Image, model: Model, variables: int, native: bool) -> None:
        super().__init__(image, model, variables, native)
        if native:
            self._loop = loop_of(image, model)
            self._remarkable |= {self._loop[1]}
            for address in waits(image):
                self._uc.mem_write(address, SHORT_NOP)

    def _start(self, state: State) -> None:
        self._rounds, self._idled, self._idles = 0, False, False
        super()._start(state)

    def _run_to_its_end(self, core: list[int]) -> int:
        end = super()._run_to_its_end(core)
        while self._idled:
            self._begin_behind_wait(core, end)
            if self._outcome.ended:
                break
            end = super()._run_to_its_end(core)
        if self._native and self._rounds == 1 and not self._outcome.ended:
            raise Broken(UNASKED)
        return end

    def _look(self, uc: Any, address: int) -> None:
        if self._loop is None or address != self._loop[1]:
            super()._look(uc, address)
        elif self._ran[-2:-1] and self._ran[-2] in self._loop[0]:
            self._wait_in_loop()

    def _served(self, name: str, arguments: tuple[int, ...]) -> bool:
        if name == IDLES:
            self._set(arm.UC_ARM_REG_R0, int(self._idles))
        elif name == IDLE:
            self._event(IDLE, ())
            self._idled = True
        else:
            return super()._served(name, arguments)
        return True

    def _wait_in_loop(self) -> None:
        """The original is where it waits."""
        if self._get(arm.UC_ARM_REG_SP) != TOP or any(self._masks()):
            self._problem = MASKED if any(self._masks()) else ON_STACK
            self._uc.emu_stop()
            return
        if self._rounds == 1 and self._unlike_last_wait():
            self._problem = UNASKED
            self._uc.emu_stop()
            return
        self._event(IDLE, ())
        self._let_others_run()
        if self._outcome.ended:
            self._uc.emu_stop()

    def _unlike_last_wait(self) -> bool:
        last = self._outcome.events[-1]
        return last.name != IDLE or last.memory != self._memory()

    def _let_others_run(self) -> None:
        """What they do to memory; the first time nothing, which shows whether it waits for that."""
        self._rounds += 1
        if self._rounds > 1 and self._state is not None:
            self._affect(self._state.effect(self._calls))
        self._outcome.ended = self._rounds >= _MOST_WAITS

    def _begin_behind_wait(self, core: list[int], end: int) -> None:
        """VCT calls the port again, which interrupts the library's own context."""
        assert self._state is not None
        self._check_return(self._state, core, end)
        if self._outcome.events[-1].memory != self._memory():
            raise Broken("does something behind virt_idle()")
        self._let_others_run()
        self._idled, self._idles = False, True
        words = [*(n << 20 | 3 for n in range(8)), _THREAD_ON_PSP, _NO_STACK]
        self._shared.write(STATE + USR_REG, struct.pack("<10I", *words))
        self._set(arm.UC_ARM_REG_LR, RETURN | 1)
