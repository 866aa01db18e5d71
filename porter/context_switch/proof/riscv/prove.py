"""Both oracles on RV32. The symbolic one tells the emulated one what can run at all."""

from __future__ import annotations

from porter.context_switch.proof.image import Image
from porter.context_switch.proof.model import Model
from porter.context_switch.proof.result import Runs
from porter.context_switch.proof.riscv.compare import compare
from porter.context_switch.proof.riscv.equivalence import equivalent, explore


def prove_images(
    original: Image, ported: Image, model: Model, states: int
) -> tuple[Runs, float, int]:
    """What was compared, the port's instructions in the mean, and how many paths the solver saw.
    Raises NotProved."""
    natives, ways = explore(original, model)
    runs, steps = compare(original, ported, model, ways, states)
    return runs, steps, equivalent(natives, ported, model)
