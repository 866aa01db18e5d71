"""A yield over a frame of the RTOS's own (`virt_yield_frames`) must go where PendSV would.

The library has put r4-r11 where the handler is to save them, below S16-S31 if those are live; in
the proof they lie there for both, so that a handler which saves them elsewhere, or not at all,
leaves other memory or finds other registers than the port. Then the pick gets PSP and EXC_RETURN,
and what it makes of them must be the handler's, with r4-r11 and S16-S31 of the task that is to run
where the library will look for them.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from functools import lru_cache

from porter.context_switch.proof.compare import STATES, difference, from_state
from porter.context_switch.proof.constants import asked_by
from porter.context_switch.proof.emulate import Emulator
from porter.context_switch.proof.image import STATE
from porter.context_switch.proof.link import link_pair
from porter.context_switch.proof.model import USR_REG, Model
from porter.context_switch.proof.outcome import Broken, Outcome, Stray
from porter.context_switch.proof.result import NotProved
from porter.context_switch.proof.states import State
from porter.context_switch.proof.walk import reachable
from porter.context_switch.result import ROLE_OTHER

_LEAST, _ENOUGH = 200, 800
_BASIC = 0x10  # bit of EXC_RETURN: no FPU state in the frame
_CORE, _FPU = 32, 64  # bytes of r4-r11 and of S16-S31
_EXC_RETURN, _PSP, _S16 = 8, 9, 10  # behind r4-r11 in a context


class _Picker(Emulator):
    """Runs a pick; the task it is told of lies where USR_REG does, which both leave alone."""

    def _context(self, state: State) -> list[int]:
        return [state.psp, state.exc_return, *super()._context(state)[2:]]

    def _finish(self, state: State, core: list[int], end: int) -> None:
        self._check_return(state, core, end)
        self._outcome.context = self._usr_reg()

    def words(self, memory: bytes, start: int, size: int) -> list[int] | None:
        """What lies at an address in the memory of an outcome; None where that isn't in it."""
        offset = 0
        for base, length in self.parts:
            if base <= start and start + size <= base + length:
                place = offset + start - base
                return list(struct.unpack(f"<{size // 4}I", memory[place : place + size]))
            offset += length
        return None


@lru_cache(maxsize=512)
def prove_frames(
    original: bytes,
    pick: bytes,
    symbols: tuple[str, str],
    model: Model,
    command: tuple[str, ...],
) -> int:
    """How many yields that switch were compared. `symbols`: the handler in one object and the pick
    in the other. Raises NotProved."""
    called = dict(model.arguments)
    images = link_pair(original, pick, symbols, called, command, compared=model.compared)
    words = images[0].variables
    handler = Emulator(images[0], model, words, native=True)
    function = replace(model, role=ROLE_OTHER, returns=False)
    picker = _Picker(images[1], function, words, native=False)
    everything = reachable(images[0], False)
    # A handler that leaves FPU state alone: the library keeps it, but in frames with room for it.
    with_fpu = any(it.name.startswith("v") for it in everything.values())
    asked = asked_by(images[0])
    compared, ran = 0, set[int]()
    for seed in range(STATES):
        if compared == _ENOUGH:
            break
        state = State(seed, model, words, asked)
        if state.psp == 0:  # nobody yields before the first task runs
            continue
        is_basic = state.exc_return & _BASIC
        if not is_basic and not with_fpu:
            continue
        frame = state.core if is_basic else [*state.core, *state.fpu]
        state.frame, state.is_framed = struct.pack(f"<{len(frame)}I", *frame), True
        state.scratch[0] = STATE + USR_REG
        try:
            wanted = handler.run(state)
        except Stray:
            continue
        if wanted.ended:
            raise NotProved("the handler may end in a function that never returns")
        try:
            picked = picker.run(state)
        except (Stray, Broken) as problem:
            raise NotProved(
                f"the yield {problem or 'goes astray'}, {from_state(state)}"
            ) from problem
        if found := _difference(wanted, picked, picker):
            raise NotProved(f"a yield isn't PendSV: {found}, {from_state(state)}")
        ran |= {after for _, after in wanted.steps}
        compared += picked.context[0] != state.psp
    if compared < _LEAST:
        raise NotProved(f"only {compared} of {STATES} states lead a yield to another task")
    if missed := sorted(everything.keys() - ran):
        raise NotProved(f"no yield was compared that reaches '{everything[missed[0]].text}'")
    return compared


def _difference(wanted: Outcome, picked: Outcome, picker: _Picker) -> str:
    """The first thing in which a yield isn't what PendSV does; empty if there is none."""
    stack, exc_return = picked.context[:2]
    context = wanted.context
    if stack != context[_PSP] or (exc_return ^ context[_EXC_RETURN]) & _BASIC:
        return "it resumes another frame"
    if found := difference(wanted, replace(picked, context=context, result=wanted.result)):
        return found
    size = _CORE if exc_return & _BASIC else _CORE + _FPU
    saved = picker.words(picked.memory, stack - size, size)
    resumed = context[:_EXC_RETURN] + (context[_S16:] if size != _CORE else [])
    if saved != resumed:
        return "r4-r11 or S16-S31 aren't right below the exception frame"
    return ""
