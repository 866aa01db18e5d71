"""The cooperative half of a port: a yield that is a function call must go where PendSV would.

The yield has pushed the task's frame itself, in the shape that the handler saves. Then the pick,
what the guest library does with the registered variable, gets the stack pointer and returns that of
the chosen task. Memory, calls and the chosen frame must be the
handler's, for frames with and without FPU state.
"""

from __future__ import annotations

import struct
from dataclasses import replace
from functools import lru_cache

from porter.context_switch.proof.compare import STATES, difference, from_state
from porter.context_switch.proof.constants import asked_by
from porter.context_switch.proof.emulate import Emulator
from porter.context_switch.proof.link import link_pair
from porter.context_switch.proof.model import Model
from porter.context_switch.proof.outcome import Broken, Outcome, Stray
from porter.context_switch.proof.result import NotProved
from porter.context_switch.proof.states import State
from porter.context_switch.proof.walk import reachable
from porter.context_switch.result import ROLE_OTHER

LIBRARY = "fvm_library_pick"
YIELDS_OVER = ("virt_yield_task", "virt_yield_stack")
_LEAST, _ENOUGH = 200, 800
_BASIC = 0x10  # bit of EXC_RETURN: no FPU state in the frame


def library_pick(variable: str, choose: str, is_stack: bool, own: bool = False) -> str:
    """C of what the guest library's switch does with `virt_yield_task(&variable, choose, ...)`, or
    with `virt_yield_stack(&variable, choose)`. `own`: it stands behind both, and what choose()
    does is part of it, not a call as others."""
    inline = "static inline __attribute__((always_inline)) " if own else ""
    return f"""\
extern void *volatile {variable};
{inline}void {choose}(void);
unsigned *{LIBRARY}(unsigned *sp);
unsigned *{LIBRARY}(unsigned *sp)
{{
    unsigned *{"" if is_stack else "*"}volatile *kept = (void *)&{variable};
    {"*" if is_stack else "**"}kept = sp;
    {choose}();
    return {"*" if is_stack else "**"}kept;
}}
"""


@lru_cache(maxsize=512)
def prove_pick(
    original: bytes,
    pick: bytes,
    symbols: tuple[str, str],
    model: Model,
    short: bool,
    command: tuple[str, ...],
    own: tuple[str, ...] = (),
) -> int:
    """How many yields were compared. `symbols`: the handler in one object and the pick in the
    other, which alone has the variables `own`; `short`: no EXC_RETURN in the frame. Raises
    NotProved."""
    called = dict(model.arguments)
    images = link_pair(original, pick, symbols, called, command, own, model.compared)
    words = images[0].variables
    handler = Emulator(images[0], model, words, native=True)
    function = replace(model, role=ROLE_OTHER, returns=True)
    picker = Emulator(images[1], function, words, native=False)
    # Where the handler leaves FPU state alone, the library's own switch still keeps it: then only
    # frames without it can be compared.
    with_fpu = any(it.name.startswith("v") for it in reachable(images[0], False).values())
    asked = asked_by(images[0])
    compared = 0
    for seed in range(STATES):
        if compared == _ENOUGH:
            break
        state = State(seed, model, words, asked)
        if state.psp == 0:  # nobody yields before the first task runs
            continue
        try:
            wanted = handler.run(state)
        except Stray:
            continue
        if wanted.ended:
            raise NotProved("the handler may end in a function that never returns")
        if not with_fpu and not state.exc_return & wanted.context[8] & _BASIC:
            continue
        frame = [*state.core, *([] if short else [state.exc_return])]
        frame += [] if short or state.exc_return & _BASIC else state.fpu
        state.frame = struct.pack(f"<{len(frame)}I", *frame)
        state.scratch[0] = state.psp - len(state.frame)
        try:
            picked = picker.run(state)
        except (Stray, Broken) as problem:
            raise NotProved(
                f"the yield {problem or 'goes astray'}, {from_state(state)}"
            ) from problem
        found = _not_resumed(wanted, picked, short)
        if not found:
            compared += bool(picked.result)
            continue
        # Where the handler saves nothing, what the yield pushed makes no difference if it is what
        # lay there before.
        state.is_pushed = True
        if _not_resumed(handler.run(state), picked, short):
            raise NotProved(f"{found}, {from_state(state)}")
    if compared < _LEAST:
        raise NotProved(f"only {compared} of {STATES} states lead a yield to its end")
    return compared


def _not_resumed(wanted: Outcome, picked: Outcome, short: bool) -> str:
    """In what a yield differs from its handler; nothing where it doesn't."""
    resumed = 32 if short else 36 if wanted.context[8] & _BASIC else 100
    if picked.result + resumed != wanted.context[9]:
        return "a yield resumes another frame than PendSV"
    found = difference(wanted, replace(picked, context=wanted.context, result=wanted.result))
    return found and f"a yield isn't PendSV: {found}"
