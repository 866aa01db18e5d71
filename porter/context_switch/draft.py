"""A function between its instructions and a `Handler`: what checks look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from porter.context_switch.first_task import First, with_first
from porter.context_switch.lift_state import Signature
from porter.context_switch.machine import Machine
from porter.context_switch.object_file import Function
from porter.context_switch.structure import Node

if TYPE_CHECKING:  # it looks at functions of the project, and so at the codes that make drafts
    from porter.context_switch.names import Names


@dataclass(frozen=True)
class Draft:
    """`own` is what C calls it with, `signatures` are those of what it may call; `texts`: its
    instructions by address. `nodes` and `first` are there once its instructions are understood."""

    machine: Machine
    function: Function
    role: str
    own: Signature
    signatures: dict[str, Signature]
    names: Names
    texts: dict[int, str]
    nodes: tuple[Node, ...] = ()
    first: First | None = None

    @property
    def everything(self) -> tuple[Node, ...]:
        """Its statements, with those that VCT runs of it."""
        return with_first(self.nodes, self.first)
