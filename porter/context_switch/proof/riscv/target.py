"""RV32 as the proof has to know it."""

from __future__ import annotations

from porter.context_switch.proof.image import Image
from porter.context_switch.proof.model import Model
from porter.context_switch.proof.result import Runs
from porter.context_switch.proof.target import Target

_CALL, _CALL_PLT, _JAL, _RVC_JUMP = 18, 19, 17, 45  # R_RISCV_*


def _oracles(original: Image, ported: Image, model: Model, states: int) -> tuple[Runs, float, int]:
    # z3 takes memory and time to load: only where something is proved.
    from porter.context_switch.proof.riscv.prove import prove_images

    return prove_images(original, ported, model, states)


RV32 = Target(
    elf="EM_RISCV",
    half=8,  # EF_RISCV_RVE
    calls=frozenset({_CALL, _CALL_PLT}),
    jumps=frozenset({_JAL, _RVC_JUMP}),
    short=frozenset(),
    tells_calls=True,
    sets_handlers=True,  # in mtvec
    scratch=frozenset({"virt_mscratch"}),
    options=("-Wl,--no-relax",),
    head="",
    stub=".global {0}\n.type {0}, %function\n{0}: ret\n",
    ends=b"\x82\x80",  # c.jr ra
    starts_whole=True,
    oracles=_oracles,
)
