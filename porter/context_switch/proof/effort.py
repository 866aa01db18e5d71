"""What the symbolic oracle may cost: counted in work and not in time, so that a slow machine gives
the answer of a fast one."""

from __future__ import annotations

from typing import Any

from porter.context_switch.proof.result import NotProved

_INSTRUCTIONS = 6000
_RESOURCES = 12_000_000  # as z3 counts them, about 3 s


class Effort:
    """What is left for one proof."""

    def __init__(self, instructions: int = _INSTRUCTIONS, resources: int = _RESOURCES) -> None:
        self._instructions, self._resources = instructions, resources

    def step(self) -> None:
        """An instruction is followed. Raises NotProved if that is one too many."""
        self._instructions -= 1
        if self._instructions < 0:
            raise NotProved("has too many instructions or paths to be proved")

    def check(self, solver: Any, most: int = _RESOURCES) -> Any:
        """The solver's answer, with `most` of what is left: z3.unknown where that isn't enough."""
        before = _spent(solver)
        solver.set("rlimit", max(1, min(most, self._resources)))  # 0 would be no limit
        found = solver.check()
        self._resources -= _spent(solver) - before
        return found


def _spent(solver: Any) -> int:
    """By all solvers so far."""
    return int(solver.statistics().get_key_value("rlimit count"))
