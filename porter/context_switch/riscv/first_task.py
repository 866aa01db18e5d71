"""First-task starts of RV32: all of one runs in VCT, where a task's registers can be set."""

from __future__ import annotations

from porter.context_switch.first_task import First
from porter.context_switch.ir import Guest
from porter.context_switch.lift_state import Signature
from porter.context_switch.result import NotTranscribable
from porter.context_switch.structure import Node


def in_vct(nodes: tuple[Node, ...], name: str, own: Signature) -> tuple[First, tuple[Node, ...]]:
    """What VCT runs, and the function that has it run."""
    if own.parameters:
        raise NotTranscribable("goes to the first task with arguments: VCT doesn't see them")
    return First(nodes), (Guest((), "virt_vct_call", (f"{name}_first",)),)
