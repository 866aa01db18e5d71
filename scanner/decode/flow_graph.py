"""Where control goes in the whole of a program: its instructions that change the flow.

A node is such an instruction, with the ordinary ones that lead up to it. Nodes that control passes
one after the other form a chain, so most of a function's text is a few chains, and questions about
millions of instructions become a few passes over arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.instruction_set import Flags, Flow, Indices, InstructionSet
from scanner.decode.marks import CHUNK, Marks
from scanner.decode.ranks import Ranks
from scanner.decode.reader import Nodes, Reader
from scanner.decode.select import among

_TAIL = 8
"""So many halfwords behind a call that doesn't come back compilers and people put at most."""

_ROUNDS = 64
"""Functions that call each other deeper than this are taken to return."""


class FlowGraph:
    """Nodes in the order of their indices; `starts` says where instructions begin.

    `targets` is the index that a jump, branch or call leads to, -1 where there is none or it lies
    outside. `falls` says whether control can go on behind a node; where it can't a chain ends, and
    `stops` are those nodes. `tails` are calls that were stopped, with where the code behind them
    ends: it is code all the same, but nothing comes from there.
    """

    def __init__(self, space: CodeSpace, isa: InstructionSet, syncs: Marks) -> None:
        reader = Reader(space, isa, syncs)
        self.starts, self.indices = reader.starts, reader.indices
        self.kinds, self.targets = reader.kinds, reader.targets
        self._words, self._wide = space.halfwords, isa.wide
        self._ranks = Ranks(reader.nodes)
        self._conditional = self._skipped(space, isa, reader)
        del reader
        self._table_calls(space, isa)
        self.falls = self._passed()
        nowhere: Indices = np.zeros(0, dtype=np.intp)
        self.tails = nowhere, nowhere
        self._find_chains()

    def node(self, indices: Indices | Nodes) -> Nodes:
        """The node whose stretch of instructions holds each index."""
        return np.minimum(self._ranks.of(indices), len(self.indices) - 1)

    def node_of_one(self, index: int) -> int:
        """The same for one index."""
        return min(self._ranks.of_one(index), len(self.indices) - 1)

    def behind(self, nodes: Indices | Nodes) -> Nodes:
        """The index behind each node."""
        found: Nodes = np.empty(len(nodes), dtype=np.int32)
        for begin in range(0, len(nodes), CHUNK):
            indices = self.indices.take(nodes[begin : begin + CHUNK], mode="clip")
            indices += self._wide.take(self._words.take(indices, mode="clip"), mode="clip")
            found[begin : begin + CHUNK] = indices
        found += 1
        return found

    def chain(self, nodes: Nodes) -> Nodes:
        """The number of each node's chain; `stops` holds its last node."""
        return self._chains.of(nodes)

    def chain_of_one(self, node: int) -> int:
        """The same for one node."""
        return self._chains.of_one(node)

    def stop_calls_before(
        self, space: CodeSpace, isa: InstructionSet, data: Marks, loaded: bool
    ) -> bool:
        """Take calls before data for such as don't come back; says whether there are any.

        Into data that is `loaded` as such, no path goes straight from a call nearby: what lies
        between is there to trap. What is but said to be data counts right behind the call alone,
        since it may be an instruction that the assembler didn't know. Branches into data stay.
        """
        nowhere: Indices = np.zeros(0, dtype=np.intp)
        found = [(nowhere, nowhere)]
        for begin in range(0, len(self.kinds), CHUNK):
            part = slice(begin, begin + CHUNK)
            calls = (self.kinds[part] == Flow.CALL) | (self.kinds[part] == Flow.COMPUTED_CALL)
            calls = np.flatnonzero(calls & self.falls[part]) + begin
            if not len(calls):
                continue
            behind = self.behind(calls).astype(np.intp)
            if loaded:
                places = data.between(int(behind[0]), int(self.indices[calls[-1] + 1]) + 1)
                starts = np.append(places, len(data))[np.searchsorted(places, behind)]
                last = np.minimum(self.indices[calls + 1], behind + _TAIL)
                rows = np.flatnonzero((starts <= last) & (starts < len(data)))
            else:
                starts = _behind_padding(space, isa, data, behind)
                rows = np.flatnonzero(data[np.minimum(starts, len(data) - 1)])
            self.falls[calls[rows]] = self._conditional[calls[rows]]
            found.append((calls[rows], starts[rows]))
        calls, starts = (np.concatenate(column) for column in zip(*found, strict=True))
        self.tails = calls, starts
        self._find_chains()
        return len(calls) > 0

    def _find_chains(self) -> None:
        falls = np.packbits(self.falls, bitorder="little")
        self._chains = Ranks(Marks(~falls, len(self.falls)))
        self.stops: Nodes = np.flatnonzero(~self.falls).astype(np.int32)

    def _skipped(self, space: CodeSpace, isa: InstructionSet, reader: Reader) -> Marks:
        """Nodes that an instruction before them makes conditional."""
        found = Marks.none(len(self.indices))
        for at, count in reader.openers:
            for number in range(1, 5):
                alive = (count >= number) & (at < len(space) - 1)
                at, count = at[alive], count[alive]
                found.add(self.node(at.take(np.flatnonzero(reader.nodes[at]))))
                words = space.halfwords.take(at, mode="clip")
                at = at + 1 + isa.wide.take(words, mode="clip")
        return found

    def _table_calls(self, space: CodeSpace, isa: InstructionSet) -> None:
        """Calls of functions that jump by a table behind the call are computed jumps."""
        for begin in range(0, len(self.kinds), CHUNK):
            kinds, targets = self.kinds[begin : begin + CHUNK], self.targets[begin : begin + CHUNK]
            calls = np.flatnonzero((kinds == Flow.CALL) & (targets >= 0))
            jumps = calls[isa.table_calls(space, targets[calls])]
            kinds[jumps] = Flow.COMPUTED
            targets[jumps] = -1

    def _passed(self) -> Flags:
        """Nodes behind which control goes on.

        Behind a call stands code only if the callee returns; behind a call of abort() often stand
        constants. So the ways out of functions are found backwards, from what surely is one.
        """
        returning, passed = self._known_ways()
        returning = _reaching(returning, passed)
        calls, callees, jumps, ends = self._open(returning, passed)
        for _ in range(_ROUNDS):
            returning = _reaching(returning, passed)
            back = returning.take(callees, mode="clip")
            onward = returning.take(ends, mode="clip")
            if not (back.any() or onward.any()):
                return passed
            passed[calls.take(np.flatnonzero(back))] = True
            returning[jumps.take(np.flatnonzero(onward))] = True
            # What is known to return needs no second look.
            open_calls = np.flatnonzero(~back)
            calls, callees = calls.take(open_calls), callees.take(open_calls)
            open_jumps = np.flatnonzero(~returning.take(jumps, mode="clip"))
            jumps, ends = jumps.take(open_jumps), ends.take(open_jumps)
        passed[calls] = True
        return passed

    def _known_ways(self) -> tuple[Flags, Flags]:
        """Nodes that leave the function, and those behind which control surely goes on."""
        returning, passed = (np.empty(len(self.kinds), dtype=np.bool_) for _ in range(2))
        for begin in range(0, len(self.kinds), CHUNK):
            part = slice(begin, begin + CHUNK)
            kinds, outside = self.kinds[part], self.targets[part] < 0
            branching = kinds == Flow.BRANCH
            # A jump that leaves what is seen gives no reason to think that it stays away.
            returning[part] = (branching | (kinds == Flow.JUMP)) & outside
            returning[part] |= (kinds == Flow.RETURN) | (kinds == Flow.COMPUTED)
            passed[part] = branching | (kinds == Flow.COMPUTED_CALL)
            passed[part] |= (kinds == Flow.CALL) & outside
            passed[part] |= self._conditional.part(begin, begin + CHUNK)
        return returning, passed

    def _open(self, returning: Flags, passed: Flags) -> list[Nodes]:
        """Calls, what they call, jumps, where they lead, if it isn't known yet to be a way out.

        What is known of the others is noted.
        """
        # As in the reader, room that is not needed costs nothing.
        columns = [np.empty(len(self.kinds), dtype=np.int32) for _ in range(4)]
        counts = [0] * len(columns)
        for begin in range(0, len(self.kinds), CHUNK):
            kinds, targets = self.kinds[begin : begin + CHUNK], self.targets[begin : begin + CHUNK]
            part = slice(begin, begin + CHUNK)
            calling = kinds == Flow.CALL
            settled = np.where(calling, passed[part], returning[part])
            direct = np.flatnonzero((targets >= 0) & ~settled)
            ends = self.node(targets.take(direct))
            known, calling = returning.take(ends, mode="clip"), calling.take(direct)
            direct += begin
            passed[direct[known & calling]] = True
            returning[direct[known & ~calling]] = True
            calls, jumps = np.flatnonzero(~known & calling), np.flatnonzero(~known & ~calling)
            found: list[npt.NDArray[np.integer[Any]]]
            found = [direct.take(calls), ends.take(calls), direct.take(jumps), ends.take(jumps)]
            for number, (column, rows) in enumerate(zip(columns, found, strict=True)):
                column[counts[number] : counts[number] + len(rows)] = rows
                counts[number] += len(rows)
        return [column[:count] for column, count in zip(columns, counts, strict=True)]


def _behind_padding(space: CodeSpace, isa: InstructionSet, data: Marks, behind: Indices) -> Indices:
    """The indices, or where data begins that is aligned to four or eight bytes behind them."""
    words = space.halfwords
    pads = among(words.take(behind, mode="clip"), isa.padding) & ~data[behind]
    starts = behind + (pads & (space.addresses(behind) % 4 == 2))
    first, second = isa.wide_padding
    pads = (words.take(starts, mode="clip") == first) & ~data[starts]
    pads &= words.take(starts + 1, mode="clip") == second
    pads &= space.addresses(starts) % 8 == 4
    aligned: Indices = starts + 2 * pads
    return aligned


def _reaching(out: Flags, passed: Flags) -> Flags:
    """Nodes from which one that is `out` is reached without leaving the chain.

    Going backwards, a way out goes from node to node like a carry in a sum.
    """
    made, size = _backwards(out), (len(out) + 7) // 8
    carried = made | _backwards(passed)
    found = ((made + carried) ^ made ^ carried) >> 1
    packed = np.frombuffer(found.to_bytes(size, "big"), dtype=np.uint8)
    return np.unpackbits(packed, count=len(out)).view(np.bool_)


def _backwards(flags: Flags) -> int:
    """Flags as the bits of a number, the first one highest."""
    return int.from_bytes(np.packbits(flags).tobytes(), "big")
