"""The one pass over a program that finds where instructions begin and which change the flow.

An instruction begins behind every halfword that can't open a wide one, however control came to that
halfword; in a row of halfwords that can, every second begins one, counted anew at each place where
code is known to begin. The rows are found with sums of whole numbers of 65536 bits: a carry runs
through a row of ones as fast as the machine adds.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.instruction_set import Flags, Flow, Halfwords, Indices, InstructionSet
from scanner.decode.marks import CHUNK, Marks, flags_of, number_of

Nodes = npt.NDArray[np.int32]
Bytes = npt.NDArray[np.uint8]

_ALL = (1 << CHUNK) - 1
_EVEN = _ALL // 3
_ODD = _ALL ^ _EVEN
_WIDE, _SPECIAL = 1, 2


class Reader:
    """What the pass finds.

    `starts` are where instructions begin. A node is one that changes the flow, or the end of a run:
    by columns its index, its kind and its target, -1 if it has none that is known.
    `nodes` marks them. `openers` are the places behind instructions that make the following ones
    conditional, with how many those are.
    """

    def __init__(self, space: CodeSpace, isa: InstructionSet, syncs: Marks) -> None:
        self._space, self._isa = space, isa
        self._traits = isa.wide * np.uint8(_WIDE) | ~isa.ordinary * np.uint8(_SPECIAL)
        self._inside_wide = False
        self.starts, self.nodes = Marks.none(len(space)), Marks.none(len(space))
        self.openers: list[tuple[Nodes, Nodes]] = []
        # Room for as many nodes as there can be: memory that is never written to is never used.
        self.indices: Nodes = np.empty(len(space), dtype=np.int32)
        self.targets: Nodes = np.empty(len(space), dtype=np.int32)
        self.kinds: Bytes = np.empty(len(space), dtype=np.uint8)
        count = 0
        for begin in range(0, len(space), CHUNK):
            end = min(begin + CHUNK, len(space))
            halfwords = space.halfwords[begin : end + 1]
            traits = np.take(self._traits, halfwords[: end - begin], mode="clip")
            starts = self._starts(traits, begin, syncs)
            traits >>= np.uint8(1)
            traits &= starts
            for barrier in space.barriers_in(begin, end):
                traits[barrier - begin] = 1
            found = self._read(halfwords, np.flatnonzero(traits.view(np.bool_)), begin)
            part = slice(count, count + len(found[0]))
            self.indices[part], self.kinds[part], self.targets[part] = found
            count = part.stop
            _put(self.starts, begin, starts)
            traits[:] = 0
            traits[found[0] - begin] = 1
            _put(self.nodes, begin, traits)
        self.indices, self.targets = self.indices[:count], self.targets[:count]
        self.kinds = self.kinds[:count]

    def _starts(self, traits: Bytes, begin: int, syncs: Marks) -> Bytes:
        """1 where an instruction begins, for one chunk."""
        size = len(traits)
        wide = number_of(traits & np.uint8(_WIDE))
        # A row of places behind wide halfwords, with nothing that counts anew: in it every second
        # one begins nothing, the first one first.
        rows = (wide << 1 | self._inside_wide) & _ALL >> CHUNK - size
        rows &= ~int.from_bytes(syncs.bits[begin >> 3 : begin + size + 7 >> 3].tobytes(), "little")
        odd = rows & (rows + (rows & ~(rows << 1) & _EVEN))  # rows that begin at odd places
        inner = (rows ^ odd) & _EVEN | odd & _ODD
        starts = flags_of(inner, size)
        starts ^= 1
        self._inside_wide = bool(starts[-1] & traits[-1] & _WIDE)
        for barrier in self._space.barriers_in(begin, begin + size + 1):
            place = barrier - begin
            if place < size:
                starts[place] = 1
            if place and traits[place - 1] & _WIDE:
                starts[place - 1] = 0  # cut off by the end of memory
        return starts

    def _read(
        self, halfwords: Halfwords, places: Indices, begin: int
    ) -> tuple[Nodes, Bytes, Nodes]:
        """Indices, kinds and targets of the nodes among some instructions of a chunk."""
        first = np.take(halfwords, places, mode="clip")
        flows = self._isa.flows(first, np.take(halfwords, places + 1, mode="clip"))
        kinds = flows.kind
        rows = np.flatnonzero(flows.conditional)
        if len(rows):
            wide = self._isa.wide.take(first.take(rows), mode="clip")
            at = (places.take(rows) + begin + 1 + wide).astype(np.int32)
            self.openers.append((at, flows.conditional[rows].astype(np.int32)))
        for barrier in self._space.barriers_in(begin, begin + CHUNK):
            kinds[np.searchsorted(places, barrier - begin)] = Flow.STOP
        nodes = np.flatnonzero(kinds)
        kinds, indices = kinds.take(nodes), (places.take(nodes) + begin).astype(np.int32)
        direct = np.flatnonzero((kinds >= Flow.JUMP) & (kinds <= Flow.CALL))
        targets: Nodes = np.full(len(nodes), -1, dtype=np.int32)
        targets[direct] = self._space.away(
            indices.take(direct), flows.distance.take(nodes.take(direct))
        )
        return indices, kinds, targets


def _put(marks: Marks, begin: int, flags: Bytes | Flags) -> None:
    packed = np.packbits(flags, bitorder="little")
    marks.bits[begin >> 3 : (begin >> 3) + len(packed)] = packed
