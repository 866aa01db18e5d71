"""The entry point: both oracles, one after the other."""

from __future__ import annotations

import time
from functools import lru_cache

from porter.context_switch.proof.compare import STATES, compare
from porter.context_switch.proof.link import is_riscv, link_pair
from porter.context_switch.proof.model import Model
from porter.context_switch.proof.result import Proof


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
    # z3 takes memory and time to load: only where something is proved.
    if is_riscv(original):
        from porter.context_switch.proof.riscv.prove import prove_images

        runs, steps, paths = prove_images(*images, model, states)
        return Proof(runs, paths, steps, time.process_time() - begin)
    runs, steps = compare(*images, model, states)
    from porter.context_switch.proof.equivalence import equivalent

    paths = equivalent(*images, model)
    return Proof(runs, paths, steps, time.process_time() - begin)
