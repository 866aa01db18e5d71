"""The entry point: both oracles, one after the other."""

from __future__ import annotations

import time
from functools import lru_cache

from porter.context_switch.proof.compare import STATES, compare
from porter.context_switch.proof.image import Image
from porter.context_switch.proof.link import is_riscv, link_pair
from porter.context_switch.proof.model import Model
from porter.context_switch.proof.result import Proof, Runs


@lru_cache(maxsize=512)
def prove(
    original: bytes,
    ported: bytes,
    symbol: str,
    model: Model,
    command: tuple[str, ...],
    states: int = STATES,
) -> Proof:
    """Compare a function of two relocatable objects; `command` is the compiler that links them,
    with the options that select the processor. Raises NotProved with a counterexample or a gap."""
    begin = time.process_time()
    # On RV32 all of a first-task start is what VCT runs.
    whole = is_riscv(original) and model.goes_to_task
    names = (symbol, f"{symbol}_first" if whole else symbol)
    called = dict(model.arguments)
    images = link_pair(original, ported, names, called, command, model.own, model.compared)
    runs, steps, paths = prove_linked(*images, model, states, is_riscv(original))
    return Proof(runs, paths, steps, time.process_time() - begin)


@lru_cache(maxsize=512)
def prove_linked(
    original: Image, ported: Image, model: Model, states: int, is_riscv: bool
) -> tuple[Runs, float, int]:
    """States compared, instructions in the mean, paths. Most choices of #if arms that a file has
    make no other code of one function: what is the same when linked is proved once."""
    # z3 takes memory and time to load: only where something is proved.
    if is_riscv:
        from porter.context_switch.proof.riscv.prove import prove_images

        return prove_images(original, ported, model, states)
    runs, steps = compare(original, ported, model, states)
    from porter.context_switch.proof.equivalence import equivalent

    return runs, steps, equivalent(original, ported, model)
