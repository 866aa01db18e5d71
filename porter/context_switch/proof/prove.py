"""The entry point: both oracles, one after the other."""

from __future__ import annotations

import time
from functools import lru_cache

from porter.context_switch.proof.compare import STATES
from porter.context_switch.proof.image import Image
from porter.context_switch.proof.link import link_pair
from porter.context_switch.proof.model import Model
from porter.context_switch.proof.result import Proof, Runs
from porter.context_switch.proof.target import Target
from porter.context_switch.proof.targets import target_of


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
    target = target_of(original)
    whole = target.starts_whole and model.goes_to_task
    names = (symbol, f"{symbol}_first" if whole else symbol)
    called = dict(model.arguments)
    images = link_pair(original, ported, names, called, command, model.own, model.compared)
    runs, steps, paths = prove_linked(*images, model, states, target)
    return Proof(runs, paths, steps, time.process_time() - begin)


@lru_cache(maxsize=512)
def prove_linked(
    original: Image, ported: Image, model: Model, states: int, target: Target
) -> tuple[Runs, float, int]:
    """States compared, instructions in the mean, paths. Most choices of #if arms that a file has
    make no other code of one function: what is the same when linked is proved once."""
    return target.oracles(original, ported, model, states)
