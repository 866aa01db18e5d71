"""Cortex-M as the proof has to know it."""

from __future__ import annotations

from porter.context_switch.proof.compare import compare
from porter.context_switch.proof.image import Image
from porter.context_switch.proof.model import Model
from porter.context_switch.proof.result import Runs
from porter.context_switch.proof.target import Target

_THM_CALL, _THM_JUMP24, _THM_JUMP11, _THM_JUMP8 = 10, 30, 102, 103  # R_ARM_*


def _oracles(original: Image, ported: Image, model: Model, states: int) -> tuple[Runs, float, int]:
    runs, steps = compare(original, ported, model, states)
    # z3 takes memory and time to load: only where something is proved.
    from porter.context_switch.proof.equivalence import equivalent

    return runs, steps, equivalent(original, ported, model)


CORTEX_M = Target(
    elf="EM_ARM",
    half=0,
    calls=frozenset({_THM_CALL, _THM_JUMP24, _THM_JUMP11, _THM_JUMP8}),
    jumps=frozenset(),
    short=frozenset({_THM_JUMP11, _THM_JUMP8}),  # two bytes: they reach 2 KiB and 256 bytes
    tells_calls=False,
    sets_handlers=False,
    scratch=frozenset(),
    options=(),
    head=".syntax unified\n.thumb\n",
    stub=".global {0}\n.thumb_func\n.type {0}, %function\n{0}: bx lr\nnop\n",
    ends=b"\x70\x47",  # bx lr
    starts_whole=False,
    oracles=_oracles,
)
