"""Instructions that go elsewhere by their own bits, and where to, as far as control is known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.instruction_set import Flow, Indices, InstructionSet
from scanner.decode.marks import CHUNK, Marks


class Transfers(NamedTuple):
    """Rows in the order of the code. `targets` is -1 where the address isn't in the instruction."""

    indices: Indices
    kinds: npt.NDArray[np.uint8]
    targets: npt.NDArray[np.int32]

    @property
    def direct(self) -> Transfers:
        """The rows whose target is known."""
        rows = np.flatnonzero(self.targets >= 0)
        return Transfers(self.indices[rows], self.kinds[rows], self.targets[rows])


def transfers(space: CodeSpace, isa: InstructionSet, certain: Marks) -> Transfers:
    """Those of the marked instructions that don't just go on."""
    columns: list[Transfers] = []
    for begin in range(0, len(space), CHUNK):
        at = np.flatnonzero(certain.part(begin, begin + CHUNK)) + begin
        at = at[~isa.ordinary.take(space.halfwords.take(at))]
        words = space.halfwords
        flows = isa.flows(words.take(at), words.take(at + 1, mode="clip"))
        goes = np.flatnonzero(flows.kind != Flow.NEXT)
        at, kinds, distances = at[goes], flows.kind[goes], flows.distance[goes]
        targets = np.full(len(at), -1, dtype=np.int32)
        known = np.flatnonzero((kinds >= Flow.JUMP) & (kinds <= Flow.CALL))
        targets[known] = space.away(at[known].astype(np.int32), distances[known])
        columns.append(Transfers(at, kinds, targets))
    return Transfers(*(np.concatenate(column) for column in zip(*columns, strict=True)))
