"""A handler that waits in a loop, and a port of which USR waits instead.

The wait is where the original goes back to its loop's beginning, and where the port calls
`virt_idle()` and ends. There others do to memory what they like, alike for both. Then the original
goes on at the loop and the port begins anew. What an original's registers hold there is one
constant on every way, or anything; so what is shown of one wait holds behind any number of them.

The library waits until a handler has run. So it is shown, too, that an original that goes on with
nothing changed comes back to its wait and changes nothing.
"""

from __future__ import annotations

from typing import Any

import z3

from porter.context_switch.proof.effort import Effort
from porter.context_switch.proof.idle_loop import MASKED, ON_STACK, UNASKED
from porter.context_switch.proof.image import TOP, Image
from porter.context_switch.proof.machine import SCRATCH, Path, entry
from porter.context_switch.proof.memory import Memory
from porter.context_switch.proof.model import CONTEXT, CORE, FPU, USR_REG, Model
from porter.context_switch.proof.result import NotProved
from porter.context_switch.proof.terms import same, symbol

_KEPT = (*SCRATCH, *CORE, "lr", "PSP")


def arrive(path: Path, effort: Effort) -> list[Path]:
    """A path of the original is where it waits: it ends there. Another one goes on with nothing
    changed, until it is there again, which then is left out."""
    if not all(isinstance(it, int) and it == 0 for it in path.masks()):
        raise NotProved(MASKED)
    if not same(path.read("sp"), TOP):
        raise NotProved(ON_STACK)
    if path.again is not None:
        _check_unchanged(path, effort)
        path.left_out = path.ended = True
        return []
    other = path.fork()
    other.again = (path.variables.copy(), path.memory.copy(), len(path.events))
    path.wait_for_tasks()
    path.ended = True
    return [other]


def _check_unchanged(path: Path, effort: Effort) -> None:
    assert path.again is not None
    variables, memory, events = path.again
    found = [path.variables.differs(variables, "name"), path.memory.differs(memory, "place")]
    if len(path.events) != events:
        raise NotProved(UNASKED)
    solver: Any = z3.Solver()
    solver.add(*path.conditions, z3.Or(found))
    if any(it is not False for it in found) and effort.check(solver) != z3.unsat:
        raise NotProved(UNASKED)


def behind_the_wait(
    image: Image, model: Model, head: int | None, constants: dict[str, int]
) -> Path:
    """Where the original goes on at its loop's `head`, or a port that begins anew (None)."""
    path = entry(image, model, head is not None)
    path.variables, path.memory = Memory("variables behind"), Memory("memory behind")
    if head is not None:
        path.pc = head
        for name in _KEPT:
            path.registers[name] = constants.get(name, symbol(f"{name} behind the wait"))
        return path
    path.idles = 1
    for index, name in enumerate(CONTEXT):
        if name not in FPU:  # these are as they were: the library's context has no FPU state
            path.block[USR_REG + 4 * index] = symbol(f"idle's {name}")
    return path


def constants_of(paths: list[Path]) -> dict[str, int]:
    """Registers that hold one number on all paths that wait."""
    found: dict[str, int] = {}
    waiting = [it for it in paths if it.waits]
    for name in _KEPT if waiting else ():
        values = [it.read(name) for it in waiting]
        first = values[0]
        if isinstance(first, int) and all(isinstance(it, int) and it == first for it in values):
            found[name] = first
    return found
