"""Recursive descent: what branches, calls and jump tables reach from known code.

All paths go forward together, a chain of nodes at a time. What an instruction set's stream of
instructions does not pass by itself, because it lies in the middle of an instruction, is walked
step by step until it falls into step again; real programs have none of that.
"""

from __future__ import annotations

import numpy as np

from scanner.decode.code_space import CodeSpace
from scanner.decode.flow_graph import FlowGraph, Nodes
from scanner.decode.instruction_set import Flags, Flow, Indices, InstructionSet

_MAX_STEPS = 1 << 16
_FEW, _PATIENCE = 16, 1024
"""Fewer paths than this are walked one by one, so many steps before they are counted again."""


class Descent:
    """`certain` is what `follow` has found so far: the instructions that control reaches."""

    def __init__(
        self, space: CodeSpace, isa: InstructionSet, starts: Flags, graph: FlowGraph
    ) -> None:
        self._space, self._isa, self._starts, self._graph = space, isa, starts, graph
        # For the last node of each chain, the lowest index at which the chain was entered.
        self._entered: Nodes = np.full(len(graph.indices), len(space), np.int32)
        self._hidden: set[int] = set()

    def follow(self, seeds: Indices) -> None:
        """Reach what the seeds lead to."""
        frontier = seeds.astype(np.int32)
        while len(frontier):
            entries = self._in_step(frontier)
            if len(entries) < _FEW:
                frontier = self._walk(entries.tolist())
            else:
                frontier = self._onward(*self._enter(entries))

    def certain(self) -> Flags:
        """Marks of all instructions that were reached."""
        graph = self._graph
        ends = graph.indices + graph.lengths
        # A chain that is entered at the barrier behind it holds nothing.
        chains = np.flatnonzero(self._entered < ends)
        edges = np.zeros(len(self._space) + 1, dtype=np.int8)
        edges[self._entered[chains]] = 1
        edges[ends[chains]] -= 1
        np.cumsum(edges, out=edges)
        marks: Flags = edges[:-1].view(np.bool_)
        marks &= self._starts
        marks[list(self._hidden)] = True
        return marks

    def _walk(self, work: list[int]) -> Nodes:
        """Follow a few paths one by one, until there are many or none; gives what is left."""
        graph, length = self._graph, len(self._space)
        hidden = []
        for _ in range(_PATIENCE):
            if not work or len(work) >= _FEW:
                break
            index = work.pop()
            if not self._starts[index]:
                hidden.append(index)
                continue
            node = graph.node_of_one(index)
            last = int(graph.last[node])
            before = int(self._entered[last])
            if index < before:
                behind = last + 1 if before == length else graph.node_of_one(before)
                self._entered[last] = index
                work += self._leads(slice(node, behind)).tolist()
        return np.array(work + hidden, dtype=np.int32)

    def _enter(self, entries: Nodes) -> tuple[Nodes, Nodes]:
        """The nodes that entries newly reach, as ranges [first, behind) within chains."""
        graph = self._graph
        entries = entries[entries < self._entered[graph.last[graph.node(entries)]]]
        entries = np.sort(entries)
        nodes = graph.node(entries)
        last = graph.last[nodes]
        # Entries are in order, so of those in one chain the first is the lowest.
        lowest = np.diff(last, prepend=np.int32(-1)) != 0
        entries, nodes, last = entries[lowest], nodes[lowest], last[lowest]
        before = self._entered[last]
        is_new = before == len(self._space)
        behind = np.where(is_new, last + 1, graph.node(np.where(is_new, 0, before)))
        self._entered[last] = entries
        return nodes, behind.astype(np.int32)

    def _onward(self, first: Nodes, behind: Nodes) -> Nodes:
        """Where control goes from ranges of nodes, beyond their chains."""
        counts = behind - first
        nodes = np.repeat(first - np.cumsum(counts) + counts, counts)
        nodes += np.arange(len(nodes))
        return self._leads(nodes)

    def _leads(self, nodes: Nodes | slice) -> Nodes:
        """Where nodes lead, their chains apart."""
        graph = self._graph
        targets, computed = graph.targets[nodes], graph.kinds[nodes] >= Flow.COMPUTED
        targets = targets[targets >= 0]
        if not computed.any():
            return targets
        places = graph.indices[nodes][computed].astype(np.intp)
        tables = self._isa.computed_targets(self._space, self._starts, places)
        return np.concatenate([targets, np.array(tables, dtype=np.int32)])

    def _in_step(self, frontier: Nodes) -> Nodes:
        """Entries that are starts; others are walked to where the stream of starts goes on."""
        aligned = self._starts[frontier]
        if aligned.all():
            return frontier
        found: set[int] = set()
        work = frontier[~aligned].tolist()
        while work and len(self._hidden) < _MAX_STEPS:
            index = work.pop()
            if self._starts[index]:
                found.add(index)
            elif index not in self._hidden and index not in self._space.barriers:
                work += self._step(index)
        return np.concatenate([frontier[aligned], np.array(sorted(found), dtype=np.int32)])

    def _step(self, index: int) -> list[int]:
        """Mark a hidden instruction; says where it leads."""
        words = self._space.halfwords
        flows = self._isa.flows(words[index : index + 1], words[index + 1 : index + 2])
        kind, length = Flow(int(flows.kind[0])), int(flows.length[0])
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
