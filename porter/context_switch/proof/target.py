"""What a machine is to the proof: how its objects are linked, and its two oracles.

That is no part of the transcriber's `Machine`, for an error there must not be repeated here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from porter.context_switch.proof.image import Image
from porter.context_switch.proof.model import Model
from porter.context_switch.proof.result import Runs

Oracles = Callable[[Image, Image, Model, int], tuple[Runs, float, int]]
"""What was compared from so many states, the port's instructions in the mean, and how many paths
the solver saw. Raises NotProved."""


@dataclass(frozen=True, eq=False)
class Target:
    """`elf`: e_machine of its objects; `half`: the flag of those with 16 registers, 0 for none.

    Relocations of `calls`, and of `jumps`, which are calls where they leave the file; `short`: of
    branches that reach so little that a callee has to be nearby. `tells_calls`: whether every call
    has a relocation. `sets_handlers`: whether code tells the machine, by an address, who handles
    what; `scratch`: variables that the guest's library has for the machine's registers.

    `options` for the linker; `head` and `stub`: text of a function that only returns, and `ends`:
    what it does that in, two bytes.

    `starts_whole`: all of a first-task start is what VCT runs."""

    elf: str
    half: int
    calls: frozenset[int]
    jumps: frozenset[int]
    short: frozenset[int]
    tells_calls: bool
    sets_handlers: bool
    scratch: frozenset[str]
    options: tuple[str, ...]
    head: str
    stub: str
    ends: bytes
    starts_whole: bool
    oracles: Oracles
