"""The proof that a port does what its original does, by two oracles that share nothing with the
transcriber: `compare` runs both in an emulator from random states, `equivalence` compares them
symbolically in all states; `cooperative` compares a yield with its handler. `link` puts them at
one address, `model` says what stands for what.
"""

from __future__ import annotations

from porter.context_switch.proof.cooperative import (
    LIBRARY,
    YIELDS_OVER,
    library_pick,
    prove_pick,
)
from porter.context_switch.proof.link import mentions
from porter.context_switch.proof.model import Model
from porter.context_switch.proof.prove import prove
from porter.context_switch.proof.result import NotProved, Proof

__all__ = [
    "LIBRARY",
    "YIELDS_OVER",
    "Model",
    "NotProved",
    "Proof",
    "library_pick",
    "mentions",
    "prove",
    "prove_pick",
]
