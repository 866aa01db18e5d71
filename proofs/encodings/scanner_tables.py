"""What the scanner's own tables say of encodings, each as an instruction that is reached."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from proofs.encodings.llvm import Encoding
from scanner.arch.registry import architecture
from scanner.decode.code_space import CodeSpace, Piece
from scanner.decode.marks import Marks
from scanner.decode.search import search
from scanner.policy import Policy
from scanner.target import Target

_PLACE = 0x08000000
_NOTHING_ALLOWED = Policy(svc=frozenset(), fpu=False)


def rules(arch: str, encodings: Sequence[Encoding]) -> list[frozenset[str]]:
    """The rules that speak of each encoding where the policy allows nothing."""
    core = architecture(arch)
    slots = np.zeros((len(encodings), 2), dtype="<u2")
    slots[:, : len(encodings[0])] = encodings
    space = CodeSpace([Piece(_PLACE, memoryview(slots.tobytes()), 0)])
    starts = Marks.at(len(space), np.arange(0, 2 * len(encodings), 2))
    target = Target(arch, _NOTHING_ALLOWED)
    found: dict[int, set[str]] = {}
    for hits in search(space, core.isa, core.rules, starts):
        for index, value in zip(hits.indices.tolist(), hits.values.tolist(), strict=True):
            whole = hits.bits == 16 * len(encodings[0])
            if index % 2 == 0 and whole and hits.rule.judge(value, target) is not None:
                found.setdefault(index // 2, set()).add(hits.rule.id)
    return [frozenset(found.get(row, ())) for row in range(len(encodings))]


def is_wide(arch: str, first: int) -> bool:
    """Whether a first halfword begins an instruction of two."""
    return bool(architecture(arch).isa.wide[first])
