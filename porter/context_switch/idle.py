"""A switch handler that waits in a loop until a task is ready: in a guest USR waits in its place.

In VCT a loop would keep the handlers out for which it waits. So the way back to the loop's
beginning becomes `virt_idle()` and the end of the handler: USR goes on in a context of the library,
which requests the switch again whenever a handler has run. Then the handler begins where the
loop does. It can if nothing of what it did before is needed there but constants.
"""

from __future__ import annotations

from porter.context_switch.dataflow import live_in, live_out
from porter.context_switch.ir import (
    CONTEXT,
    FPU,
    IDLE,
    IDLES,
    MASKS,
    RISCV_CONTEXT,
    WAIT,
    Block,
    Branch,
    Call,
    Condition,
    Const,
    Exit,
    Guest,
    Note,
    Program,
    Var,
)
from porter.context_switch.lift_state import KIND_RESULT
from porter.context_switch.result import WAITS, NotTranscribable
from porter.context_switch.structure import looks_at_memory
from porter.context_switch.unroll import led, loop_of

WHY = "USR waits meanwhile, in the library's idle context"
_RESUMED = "idles"


def wait_in_idle(program: Program) -> bool:
    """Put the library's idle context in place of a switch handler's loop; whether there was one.
    NotTranscribable where the handler can't begin at the loop."""
    loop = loop_of(program)
    inside = loop[1] if loop is not None else set()
    for key, block in program.blocks.items():
        for wait in filter(_is_wait, block.statements if key not in inside else ()):
            assert isinstance(wait, Guest)
            raise NotTranscribable(
                f"'{wait.origin[-1][1]}' would wait inside a virtual handler and starve the tasks; "
                "the wait belongs into the idle task, as hyp_vct_wait()",
                WAITS,
            )
    if loop is None or not any(looks_at_memory(program.blocks[key]) for key in inside):
        return False
    head = loop[0]
    _refuse_calls(program, inside)
    _refuse_needs(program, head)
    first = max(program.blocks) + 1
    for key in inside:
        block = program.blocks[key]
        block.statements = [Note(it.origin, WHY) if _is_wait(it) else it for it in block.statements]
        block.end = led(block.end, {head: first})
    program.blocks[first] = Block([Guest((), IDLE, ())], Exit(()))
    asked = Condition("ne", Const(KIND_RESULT), Var(_RESUMED), Const(0))
    begin = Block([Guest((), IDLES, (), _RESUMED)], Branch(asked, head, program.entry, ()))
    program.blocks[first + 1] = begin
    program.entry = first + 1
    return True


def _is_wait(statement: object) -> bool:
    return isinstance(statement, Guest) and statement.function == WAIT


def _refuse_calls(program: Program, inside: set[int]) -> None:
    """What a loop calls runs in each of its rounds, of which a guest has fewer."""
    for key in sorted(inside):
        for statement in program.blocks[key].statements:
            if isinstance(statement, Call):
                raise NotTranscribable(
                    f"waits in a loop that calls {statement.function}(): what is to be done before "
                    "and behind a wait belongs into an idle task, beside hyp_vct_wait()",
                    WAITS,
                )


def _refuse_needs(program: Program, head: int) -> None:
    """What is read behind the loop's beginning and set before it is gone when the wait is over; so
    are the registers of the task, but for S16-S31, which a task without FPU state hasn't."""
    out = live_out(program)
    needed = live_in(program, head, out[head]) - {*MASKS, *FPU, *RISCV_CONTEXT, "MSP", "CONTROL"}
    if not needed:
        return
    name = sorted(needed, key=lambda it: it in CONTEXT)[0]
    whose = "the task's " if name in CONTEXT else ""
    raise NotTranscribable(
        f"waits in a loop and needs {whose}{name.lower()} behind it as it was before: the handler "
        "can't begin with the loop when the wait is over",
        WAITS,
    )
