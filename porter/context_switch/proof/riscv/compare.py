"""First oracle on RV32: original and port side by side in an emulator, from random states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from porter.context_switch.proof.compare import LEAST, STATES, Pair, compare_pair
from porter.context_switch.proof.image import Image
from porter.context_switch.proof.model import Model
from porter.context_switch.proof.outcome import Outcome
from porter.context_switch.proof.result import Runs
from porter.context_switch.proof.riscv.constants import asked_by
from porter.context_switch.proof.riscv.decode import Code
from porter.context_switch.proof.riscv.emulate import Emulator
from porter.context_switch.proof.riscv.layout import CONTEXT
from porter.context_switch.proof.riscv.states import State


class RiscvPair(Pair):
    """An original and its port on RV32."""

    def __init__(
        self, original: Image, ported: Image, model: Model, ways: dict[int, set[bool]]
    ) -> None:
        """`ways`: what can run, and how many ways a condition has: a constant may decide it."""
        self._image, self._ways = original, ways
        variables = original.variables
        stacks = original.stacks
        asked = asked_by(original, ways)
        self._state = lambda seed: State(seed, model, variables, stacks, asked)
        self._original = Emulator(original, model, variables, native=True)
        self._ported = Emulator(ported, model, variables, native=False)
        self._names = CONTEXT

    def expected(self, ends: frozenset[int]) -> dict[int, tuple[str, bool]]:
        """What of the original has to run, by address: as text, and whether it has two ways."""
        code, begin = Code(self._image), self._image.entry
        return {
            address: (f"'{code.at(address).name}' at +{address - begin:#x}", len(found) > 1)
            for address, found in self._ways.items()
        }

    def guided(self) -> Iterator[Any]:
        """None: the symbolic oracle has said what can't run."""
        return iter(())

    def finish(self) -> None:
        """Every state shows all there is to see."""

    def _explained(self, state: object) -> str:
        """Nothing: no instruction of this machine has an index."""
        return ""

    def _check_task(self, original: Outcome, ported: Outcome, state: object) -> None:
        """The context says which task is resumed."""


def compare(
    original: Image,
    ported: Image,
    model: Model,
    ways: dict[int, set[bool]],
    states: int = STATES,
    least: int = LEAST,
) -> tuple[Runs, float]:
    """As for Cortex-M."""
    return compare_pair(RiscvPair(original, ported, model, ways), states, least)
