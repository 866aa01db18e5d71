"""What goes to a task in RV32: a start, or a yield by a call. All of it runs in VCT, where a task's
registers can be set, in the name of the call."""

from __future__ import annotations

from porter.context_switch.first_task import First
from porter.context_switch.ir import PARAMETERS, Expr, Guest, Var
from porter.context_switch.lift_state import Signature
from porter.context_switch.result import NotTranscribable
from porter.context_switch.riscv.registers import ARGUMENT
from porter.context_switch.structure import Node, Return

_RESULT = f"x{ARGUMENT}"
_MOST = 7  # words that virt_vct_call hands on


def in_vct(nodes: tuple[Node, ...], name: str, own: Signature) -> tuple[First, tuple[Node, ...]]:
    """What VCT runs, and the function that has it run."""
    if len(own.parameters) > _MOST:
        raise NotTranscribable(f"takes more than the {_MOST} arguments that virt_vct_call hands on")
    arguments: tuple[str | Expr, ...] = (
        f"{name}_first",
        *map(Var, PARAMETERS[: len(own.parameters)]),
    )
    call = Guest((), "virt_vct_call", arguments, _RESULT if own.returns else None)
    return First(nodes), (call, Return((), Var(_RESULT))) if own.returns else (call,)
