"""Where control goes in the whole of a program: its instructions that are not ordinary.

A node is such an instruction, with the ordinary ones that lead up to it. Nodes that control passes
one after the other form a chain, so most of a function's text is a few chains, and questions about
millions of instructions become a few passes over arrays.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.instruction_set import Flags, Flow, Indices, InstructionSet
from scanner.decode.ranks import Ranks

_ROUNDS = 64
"""Functions that call each other deeper than this are taken to return."""

Nodes = npt.NDArray[np.int32]
_CHUNK = 1 << 17


class FlowGraph:
    """Nodes in the order of their indices; `starts` says where instructions begin.

    `targets` is the index that a jump, branch or call leads to, -1 where there is none or it lies
    outside. `falls` says whether control can go on behind a node, `last` names the last node of
    each node's chain.
    """

    def __init__(self, space: CodeSpace, isa: InstructionSet, starts: Flags) -> None:
        marks = _special(space, isa, starts)
        self._ranks = Ranks(marks)
        self.indices: Indices = np.flatnonzero(marks)
        del marks
        words = space.halfwords
        behind = np.minimum(self.indices + 1, len(words) - 1)
        flows = isa.flows(words[self.indices], words[behind])
        self.kinds = flows.kind
        self.lengths = flows.length
        barriers = self._ranks.of(np.array(space.barriers, dtype=np.intp))
        self.kinds[barriers], self.lengths[barriers] = Flow.STOP, 0
        self.targets = _targets(space, self.indices, flows.kind, flows.distance)
        self._conditional = self._skipped(space, isa, flows.conditional)
        self._table_calls(space, isa)
        returning = self._returning()
        self.falls = self._goes_on(returning)
        self.last = _next_true(~self.falls)

    def node(self, indices: Indices | Nodes) -> Nodes:
        """The node whose stretch of instructions holds each index."""
        return self._ranks.of(indices)

    def _skipped(
        self, space: CodeSpace, isa: InstructionSet, conditional: npt.NDArray[np.uint8]
    ) -> Flags:
        """Nodes that the instruction before them makes conditional."""
        found = np.zeros(len(self.indices), dtype=np.bool_)
        openers = np.flatnonzero(conditional)
        at = self.indices[openers] + self.lengths[openers]
        for number in range(1, 5):
            alive = (conditional[openers] >= number) & (at < len(space) - 1)
            openers, at = openers[alive], at[alive]
            node = np.minimum(self.node(at), len(self.indices) - 1)
            found[node[self.indices[node] == at]] = True
            at = at + 1 + isa.wide[space.halfwords[at]]
        return found

    def _table_calls(self, space: CodeSpace, isa: InstructionSet) -> None:
        """Calls of functions that jump by a table behind the call are computed jumps."""
        calls = np.flatnonzero((self.kinds == Flow.CALL) & (self.targets >= 0))
        callees, which = np.unique(self.targets[calls], return_inverse=True)
        jumps = calls[isa.table_calls(space, callees.astype(np.intp))[which]]
        self.kinds[jumps] = Flow.COMPUTED
        self.targets[jumps] = -1

    def _returning(self) -> Flags:
        """Nodes from which a way out of the function is known.

        Behind a call stands code only if the callee returns; behind a call of abort() often stand
        constants. So the ways out are found backwards, from what surely is one.
        """
        kinds, targets = self.kinds, self.targets
        calls = np.flatnonzero((kinds == Flow.CALL) & (targets >= 0))
        jumps = np.flatnonzero(((kinds == Flow.JUMP) | (kinds == Flow.BRANCH)) & (targets >= 0))
        callees = self._within(self.targets[calls])
        ends = self._within(self.targets[jumps])
        # A jump that leaves what is seen gives no reason to think that it stays away.
        leaves = ((kinds == Flow.JUMP) | (kinds == Flow.BRANCH)) & (targets < 0)
        out = leaves | (kinds == Flow.RETURN) | (kinds == Flow.COMPUTED)
        known = kinds == Flow.CALL
        known[calls] = False
        passes = self._passes() | known
        returning = _reaches(out, passes)
        for _ in range(_ROUNDS):
            before = int(np.count_nonzero(returning))
            passes[calls[returning[callees]]] = True
            out[jumps[returning[ends]]] = True
            returning = _reaches(out, passes)
            if int(np.count_nonzero(returning)) == before:
                return returning
        return np.ones_like(returning)

    def _within(self, targets: Nodes) -> Nodes:
        """Nodes of targets; one in the middle of an instruction counts as the next one."""
        return np.minimum(self.node(targets), len(self.indices) - 1)

    def _passes(self) -> Flags:
        """Nodes behind which control surely can go on."""
        kinds = self.kinds
        passes: Flags = (kinds == Flow.NEXT) | (kinds == Flow.BRANCH)
        passes |= (kinds == Flow.COMPUTED_CALL) | self._conditional
        return passes

    def _goes_on(self, returning: Flags) -> Flags:
        calls = np.flatnonzero(self.kinds == Flow.CALL)
        targets = self.targets[calls]
        nodes = np.minimum(self.node(np.maximum(targets, 0)), len(self.indices) - 1)
        falls = self._passes()
        falls[calls] |= (targets < 0) | returning[nodes]
        falls[self.kinds == Flow.STOP] &= self._conditional[self.kinds == Flow.STOP]
        return falls


def _special(space: CodeSpace, isa: InstructionSet, starts: Flags) -> Flags:
    """Instructions that are not ordinary, and the barriers."""
    marks = np.empty(len(space), dtype=np.bool_)
    special = ~isa.ordinary
    for begin in range(0, len(space), _CHUNK):
        end = begin + _CHUNK
        np.take(special, space.halfwords[begin:end], mode="clip", out=marks[begin:end])
    marks &= starts
    marks[space.barriers] = True
    return marks


def _targets(
    space: CodeSpace,
    indices: Indices,
    kinds: npt.NDArray[np.uint8],
    distances: npt.NDArray[np.int32],
) -> Nodes:
    rows = np.flatnonzero((kinds >= Flow.JUMP) & (kinds <= Flow.CALL))
    targets: Nodes = np.full(len(indices), -1, dtype=np.int32)
    addresses = space.addresses(indices[rows]) + 2 * distances[rows].astype(np.int64)
    targets[rows] = space.indices(addresses)
    return targets


def _next_true(flags: Flags) -> Nodes:
    """For each place the first one from it on where the flag is set; past the end if none is."""
    size = len(flags)
    places = np.where(flags, np.arange(size, dtype=np.int32), np.int32(size))
    found: Nodes = np.empty(size, dtype=np.int32)
    np.minimum.accumulate(places[::-1], out=found[::-1])
    return found


def _reaches(out: Flags, passes: Flags) -> Flags:
    """Nodes from which one that is `out` is reached without leaving the chain."""
    way_out = _next_true(out)
    found: Flags = way_out <= _next_true(~passes)
    found &= way_out < len(out)
    return found
