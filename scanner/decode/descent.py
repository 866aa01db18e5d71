"""Recursive descent: what branches, calls and jump tables reach from known code.

All paths go forward together, a chain of nodes at a time. What an instruction set's stream of
instructions does not pass by itself, because it lies in the middle of an instruction, is walked
step by step until it falls into step again; real programs have none of that.
"""

from __future__ import annotations

import numpy as np

from scanner.decode.code_space import CodeSpace
from scanner.decode.flow_graph import FlowGraph
from scanner.decode.instruction_set import Flow, Indices, InstructionSet
from scanner.decode.marks import CHUNK, Marks
from scanner.decode.reader import Nodes

_MAX_STEPS = 1 << 16
_FEW, _PATIENCE = 64, 1 << 16
"""Fewer paths than this are walked one by one, so many steps before others get their turn."""

_TABLES = 4096
"""So many tables are read at a time."""


class Descent:
    """`certain` is what `follow` has found so far: the instructions that control reaches."""

    def __init__(self, space: CodeSpace, isa: InstructionSet, graph: FlowGraph) -> None:
        self._space, self._isa, self._graph = space, isa, graph
        # The lowest index at which each chain was entered.
        self._entered: Nodes = np.full(len(graph.stops), len(space), np.int32)
        self._chosen: Nodes = np.zeros(len(graph.stops), np.int32)
        self._cases = 16 * _TABLES + 2 * len(space)
        self._hidden: set[int] = set()

    def follow(self, seeds: Indices) -> None:
        """Reach what the seeds lead to."""
        frontier = seeds.astype(np.int32)
        while len(frontier):
            if len(frontier) < _FEW:
                frontier = self._walk(frontier.tolist())
            entries = self._in_step(frontier)
            parts = [entries[begin : begin + CHUNK] for begin in range(0, len(entries), CHUNK)]
            onward = [self._onward(*self._enter(part)) for part in parts]
            frontier = np.concatenate([*onward, np.zeros(0, dtype=np.int32)])

    def certain(self) -> Marks:
        """Marks of all instructions that were reached."""
        graph = self._graph
        ends = graph.behind(graph.stops)
        # Where code was said to begin inside an instruction, the next chain begins there.
        np.minimum(ends[:-1], self._entered[1:], out=ends[:-1])
        marks = graph.starts & Marks.within(len(self._space), self._entered, ends)
        marks.add(sorted(self._hidden))
        calls, tails = graph.tails
        rows = np.flatnonzero(marks[graph.indices[calls]])
        behind = graph.behind(calls[rows])
        marks |= graph.starts & Marks.within(len(self._space), behind, tails[rows])
        return marks.without(Marks.at(len(self._space), np.array(self._space.barriers)))

    def _walk(self, work: list[int]) -> Nodes:
        """Follow a few paths one by one, until there are many or none; gives what is left."""
        graph, length = self._graph, len(self._space)
        has_start, node_of, chain_of = graph.starts.has, graph.node_of_one, graph.chain_of_one
        entered, stops = self._entered.data, graph.stops.data
        kinds, targets, indices = graph.kinds.data, graph.targets.data, graph.indices.data
        hidden: list[int] = []
        tables: list[int] = []
        for _ in range(_PATIENCE):
            if not work:
                work, tables = self._by_table(np.array(tables, dtype=np.intp)), []
            if not work or len(work) >= _FEW:
                break
            index = work.pop()
            if not has_start(index):
                hidden.append(index)
                continue
            node = node_of(index)
            chain = chain_of(node)
            before = entered[chain]
            if index >= before:
                continue
            entered[chain] = index
            behind = stops[chain] + 1 if before == length else node_of(before)
            if behind - node > _FEW:
                work += self._leads(slice(node, behind)).tolist()
                continue
            for passed in range(node, behind):
                target = targets[passed]
                if target >= 0:
                    work.append(target)
                elif kinds[passed] >= Flow.COMPUTED:
                    tables.append(indices[passed])
        work += self._by_table(np.array(tables, dtype=np.intp))
        return np.array(work + hidden, dtype=np.int32)

    def _enter(self, entries: Nodes) -> tuple[Nodes, Nodes]:
        """The nodes that entries newly reach, as ranges [first, behind) within chains."""
        graph = self._graph
        nodes = graph.node(entries)
        chains = graph.chain(nodes)
        before = self._entered.take(chains, mode="clip")
        new = np.flatnonzero(entries < before)
        entries, nodes = entries.take(new), nodes.take(new)
        chains, before = chains.take(new), before.take(new)
        # Of those in one chain the lowest counts, and of several that are the same the last.
        np.minimum.at(self._entered, chains, entries)
        lowest = np.flatnonzero(self._entered.take(chains, mode="clip") == entries)
        self._chosen[chains[lowest]] = lowest
        lowest = lowest[self._chosen[chains[lowest]] == lowest]
        nodes, chains, before = nodes[lowest], chains[lowest], before[lowest]
        behind = graph.stops[chains] + 1
        again = np.flatnonzero(before < len(self._space))
        behind[again] = graph.node(before[again])
        return nodes, behind

    def _onward(self, first: Nodes, behind: Nodes) -> Nodes:
        """Where control goes from ranges of nodes, beyond their chains."""
        counts = behind - first
        nodes = np.repeat(first - np.cumsum(counts, dtype=np.int32) + counts, counts)
        nodes += np.arange(len(nodes), dtype=np.int32)
        return self._leads(nodes)

    def _leads(self, nodes: Nodes | slice) -> Nodes:
        """Where nodes lead, their chains apart."""
        graph = self._graph
        if isinstance(nodes, slice):
            nodes = np.arange(nodes.start, nodes.stop, dtype=np.int32)
        targets = graph.targets.take(nodes, mode="clip")
        targets = targets.take(np.flatnonzero(targets >= 0))
        computed = np.flatnonzero(graph.kinds.take(nodes, mode="clip") >= Flow.COMPUTED)
        if not len(computed):
            return targets
        tables = self._by_table(graph.indices[nodes.take(computed)].astype(np.intp))
        return np.concatenate([targets, np.array(tables, dtype=np.int32)])

    def _by_table(self, places: Indices) -> list[int]:
        """Where computed jumps and calls at the places lead.

        Tables of real programs lie apart, so that all of them have no more cases than there are
        bytes. What says it has more is no longer asked.
        """
        found: list[int] = []
        for begin in range(0, len(places), _TABLES):
            if self._cases <= 0:
                break
            some = places[begin : begin + _TABLES]
            targets = self._isa.computed_targets(self._space, self._graph.starts, some)
            self._cases -= len(targets)
            found += targets
        return found

    def _in_step(self, frontier: Nodes) -> Nodes:
        """Entries that are starts; others are walked to where the stream of starts goes on."""
        starts = self._graph.starts
        aligned = starts[frontier]
        if aligned.all():
            return frontier
        found: set[int] = set()
        work = frontier[~aligned].tolist()
        while work and len(self._hidden) < _MAX_STEPS:
            index = work.pop()
            if starts.has(index):
                found.add(index)
            elif index not in self._hidden and index not in self._space.barriers:
                work += self._step(index)
        return np.concatenate([frontier[aligned], np.array(sorted(found), dtype=np.int32)])

    def _step(self, index: int) -> list[int]:
        """Mark a hidden instruction; says where it leads."""
        words = self._space.halfwords
        flows = self._isa.flows(words[index : index + 1], words[index + 1 : index + 2])
        kind, length = int(flows.kind[0]), 1 + int(self._isa.wide[words[index]])
        if length == 2 and index + 1 in self._space.barriers:
            return []
        self._hidden.add(index)
        onward = []
        if Flow.JUMP <= kind <= Flow.CALL:
            target = self._space.index(self._space.address(index) + 2 * int(flows.distance[0]))
            onward = [] if target is None else [target]
        if kind not in (Flow.JUMP, Flow.RETURN, Flow.STOP, Flow.COMPUTED):
            onward.append(index + length)
        return onward
