"""Where control goes in the whole of a program: its instructions that change the flow.

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
        reader = _Reader(space, isa, starts)
        self.indices = reader.indices
        self.kinds, self.lengths, self.targets = reader.kinds, reader.lengths, reader.targets
        self._ranks = Ranks(reader.bits)
        self._conditional = self._skipped(space, isa, reader.openers)
        self._table_calls(space, isa)
        self._always_passes: Flags = (self.kinds == Flow.BRANCH) | (
            self.kinds == Flow.COMPUTED_CALL
        )
        self._always_passes |= self._conditional
        self.falls = self._goes_on(self._returning())
        self.last = _next_true(~self.falls)

    def node(self, indices: Indices | Nodes) -> Nodes:
        """The node whose stretch of instructions holds each index."""
        return np.minimum(self._ranks.of(indices), len(self.indices) - 1)

    def node_of_one(self, index: int) -> int:
        """The same for one index."""
        return min(self._ranks.of_one(index), len(self.indices) - 1)

    def stop_calls_before(self, space: CodeSpace, isa: InstructionSet, data: Flags) -> bool:
        """Take calls right before data for such as don't come back; says whether there are any.

        That isn't trusting what marks data: a path that runs or branches into it stays one.
        """
        calls = (self.kinds == Flow.CALL) | (self.kinds == Flow.COMPUTED_CALL)
        calls = np.flatnonzero(calls & self.falls)
        behind = self.indices[calls] + self.lengths[calls]
        padded = np.isin(space.halfwords[behind], isa.padding)
        padded &= space.addresses(behind.astype(np.intp)) % 4 == 2
        stopped = calls[data[behind] | (padded & data[np.minimum(behind + 1, len(data) - 1)])]
        self.falls[stopped] = self._conditional[stopped]
        self.last = _next_true(~self.falls)
        return len(stopped) > 0

    def _skipped(
        self, space: CodeSpace, isa: InstructionSet, openers: list[tuple[Nodes, Nodes]]
    ) -> Flags:
        """Nodes that an instruction before them makes conditional."""
        found = np.zeros(len(self.indices), dtype=np.bool_)
        for at, count in openers:
            for number in range(1, 5):
                alive = (count >= number) & (at < len(space) - 1)
                at, count = at[alive], count[alive]
                node = self.node(at)
                found[node[self.indices[node] == at]] = True
                at = at + 1 + isa.wide[space.halfwords[at]]
        return found

    def _table_calls(self, space: CodeSpace, isa: InstructionSet) -> None:
        """Calls of functions that jump by a table behind the call are computed jumps."""
        calls = np.flatnonzero((self.kinds == Flow.CALL) & (self.targets >= 0))
        callees = np.sort(self.targets[calls]).astype(np.intp)
        callees = callees[np.diff(callees, prepend=-1) != 0]
        by_table = callees[isa.table_calls(space, callees)]
        if len(by_table):
            jumps = calls[np.isin(self.targets[calls], by_table)]
            self.kinds[jumps] = Flow.COMPUTED
            self.targets[jumps] = -1

    def _returning(self) -> Flags:
        """Nodes from which a way out of the function is known.

        Behind a call stands code only if the callee returns; behind a call of abort() often stand
        constants. So the ways out are found backwards, from what surely is one.
        """
        kinds, targets = self.kinds, self.targets
        jumping = (kinds == Flow.JUMP) | (kinds == Flow.BRANCH)
        jumps = np.flatnonzero(jumping & (targets >= 0)).astype(np.int32)
        calls = np.flatnonzero((kinds == Flow.CALL) & (targets >= 0)).astype(np.int32)
        callees, ends = self.node(targets[calls]), self.node(targets[jumps])
        # A jump that leaves what is seen gives no reason to think that it stays away.
        out = (jumping & (targets < 0)) | (kinds == Flow.RETURN) | (kinds == Flow.COMPUTED)
        passes: Flags = self._always_passes | ((kinds == Flow.CALL) & (targets < 0))
        returning = _reaches(out, passes)
        for _ in range(_ROUNDS):
            back, onward = returning[callees], returning[ends]
            if not (back.any() or onward.any()):
                return returning
            passes[calls[back]] = True
            behind = calls[back] + 1
            found = [jumps[onward], calls[back][returning[np.minimum(behind, len(kinds) - 1)]]]
            _extend(returning, passes, np.concatenate(found))
            # What is known to return needs no second look.
            calls, callees = calls[~back], callees[~back]
            jumps, ends = jumps[~onward], ends[~onward]
        return np.ones_like(returning)

    def _goes_on(self, returning: Flags) -> Flags:
        """Nodes behind which control goes on."""
        calls = np.flatnonzero(self.kinds == Flow.CALL)
        targets = self.targets[calls]
        falls: Flags = self._always_passes.copy()
        falls[calls] |= (targets < 0) | returning[self.node(np.maximum(targets, 0))]
        return falls


class _Reader:
    """Reads the nodes of a program piece by piece; `bits` marks their places.

    `openers` are the places behind instructions that make the following ones conditional, with how
    many those are.
    """

    def __init__(self, space: CodeSpace, isa: InstructionSet, starts: Flags) -> None:
        self._space, self._isa = space, isa
        self.openers: list[tuple[Nodes, Nodes]] = []
        special = ~isa.ordinary
        parts, bits = [], []
        for begin in range(0, len(space), _CHUNK):
            end = begin + _CHUNK
            marks = np.take(special, space.halfwords[begin:end], mode="clip")
            marks &= starts[begin:end]
            inside = [b - begin for b in space.barriers if begin <= b < end]
            marks[inside] = True
            part = self._read(np.flatnonzero(marks) + begin)
            parts.append(part)
            marks[:] = False
            marks[part[0] - begin] = True
            bits.append(np.packbits(marks, bitorder="little"))
        self.bits: npt.NDArray[np.uint8] = np.concatenate(bits)
        # Column by column, so that no more than one of them is there twice.
        columns = [list(column) for column in zip(*parts, strict=True)]
        del parts
        self.targets: Nodes = np.concatenate(columns.pop())
        self.lengths: npt.NDArray[np.uint8] = np.concatenate(columns.pop())
        self.kinds: npt.NDArray[np.uint8] = np.concatenate(columns.pop())
        self.indices: Nodes = np.concatenate(columns.pop())

    def _read(
        self, indices: Indices
    ) -> tuple[Nodes, npt.NDArray[np.uint8], npt.NDArray[np.uint8], Nodes]:
        """Indices, kinds, lengths and targets of the nodes among some instructions."""
        space = self._space
        behind = np.minimum(indices + 1, len(space) - 1)
        flows = self._isa.flows(space.halfwords[indices], space.halfwords[behind])
        kinds, lengths = flows.kind, flows.length
        if flows.conditional.any():
            rows = np.flatnonzero(flows.conditional)
            at = (indices[rows] + lengths[rows]).astype(np.int32)
            self.openers.append((at, flows.conditional[rows].astype(np.int32)))
        ends = np.flatnonzero(np.isin(indices, space.barriers))
        kinds[ends], lengths[ends] = Flow.STOP, 0
        nodes = np.flatnonzero(kinds)
        direct = np.flatnonzero((kinds >= Flow.JUMP) & (kinds <= Flow.CALL))
        targets: Nodes = np.full(len(indices), -1, dtype=np.int32)
        addresses = space.addresses(indices[direct]) + 2 * flows.distance[direct].astype(np.int64)
        targets[direct] = space.indices(addresses)
        return indices[nodes].astype(np.int32), kinds[nodes], lengths[nodes], targets[nodes]


def _next_true(flags: Flags) -> Nodes:
    """For each place the first one from it on where the flag is set; past the end if none is."""
    places = np.flatnonzero(flags).astype(np.int32)
    counts = np.diff(places, prepend=np.int32(-1))
    rest = len(flags) - int(counts.sum())
    values = np.append(places, np.int32(len(flags)))
    found: Nodes = np.repeat(values, np.append(counts, rest))
    return found


def _extend(returning: Flags, passes: Flags, nodes: Nodes) -> None:
    """Mark nodes as returning, and those from which control passes to them."""
    while len(nodes):
        returning[nodes] = True
        before = nodes[nodes > 0] - 1
        nodes = before[passes[before] & ~returning[before]]


def _reaches(out: Flags, passes: Flags) -> Flags:
    """Nodes from which one that is `out` is reached without leaving the chain."""
    events = np.flatnonzero(out | ~passes).astype(np.int32)
    counts = np.diff(events, prepend=np.int32(-1))
    found: Flags = np.zeros(len(out), dtype=np.bool_)
    known = np.repeat(out[events], counts)
    found[: len(known)] = known
    return found
