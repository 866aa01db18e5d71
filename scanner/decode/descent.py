"""Recursive descent: what branches, calls and jump tables reach from known code.

All paths go forward together, a chain of nodes at a time. What an instruction set's stream of
instructions does not pass by itself, because it lies in the middle of an instruction, is walked
step by step until it falls into step again; real programs have none of that.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.flow_graph import FlowGraph, Nodes
from scanner.decode.instruction_set import Flags, Flow, Indices, InstructionSet

_MAX_STEPS = 1 << 16
_NOWHERE = np.zeros(0, dtype=np.intp)


class Descent:
    """`certain` grows by `follow`: the instructions that control is known to reach."""

    def __init__(
        self, space: CodeSpace, isa: InstructionSet, starts: Flags, graph: FlowGraph
    ) -> None:
        self._space, self._isa, self._starts, self._graph = space, isa, starts, graph
        # For the last node of each chain, the lowest index at which the chain was entered.
        self._entered: npt.NDArray[np.int32] = np.full(len(graph.indices), len(space), np.int32)
        self._hidden: set[int] = set()

    def follow(self, seeds: Indices) -> None:
        """Reach what the seeds lead to."""
        frontier = np.unique(seeds)
        while len(frontier):
            first, behind = self._enter(self._in_step(frontier))
            frontier = self._onward(first, behind)

    def certain(self) -> Flags:
        """Marks of all instructions that were reached."""
        graph = self._graph
        chains = np.flatnonzero(self._entered < len(self._space))
        edges = np.zeros(len(self._space) + 1, dtype=np.int8)
        edges[self._entered[chains]] = 1
        ends = graph.indices[chains] + np.maximum(graph.lengths[chains], 0)
        np.subtract.at(edges, np.minimum(ends, len(self._space)), 1)
        np.cumsum(edges, out=edges)
        marks: Flags = edges[:-1].view(np.bool_)
        marks &= self._starts
        marks[list(self._hidden)] = True
        return marks

    def _enter(self, entries: Indices) -> tuple[Nodes, Nodes]:
        """The nodes that entries newly reach, as ranges [first, behind) within chains."""
        graph = self._graph
        nodes = graph.node(entries)
        last = graph.last[np.minimum(nodes, len(graph.last) - 1)]
        lower = entries < self._entered[last]
        entries, nodes, last = entries[lower], nodes[lower], last[lower]
        if not len(entries):
            return nodes, nodes
        # Entries are in order, so of those in one chain the first is the lowest.
        lowest = np.concatenate([[True], last[1:] != last[:-1]])
        entries, nodes, last = entries[lowest], nodes[lowest], last[lowest]
        before = self._entered[last]
        known = before < len(self._space)
        behind = np.where(known, graph.node(np.where(known, before, 0)), last + 1)
        self._entered[last] = entries
        return nodes, behind.astype(np.int32)

    def _onward(self, first: Nodes, behind: Nodes) -> Indices:
        """Where control goes from ranges of nodes, beyond their chains."""
        counts = behind - first
        offsets = np.repeat(first - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
        nodes = offsets + np.arange(len(offsets))
        graph = self._graph
        targets = graph.targets[nodes]
        kinds = graph.kinds[nodes]
        computed = nodes[(kinds == Flow.COMPUTED) | (kinds == Flow.COMPUTED_CALL)]
        tables: Sequence[int] = ()
        if len(computed):
            tables = self._isa.computed_targets(self._space, self._starts, graph.indices[computed])
        return np.unique(np.concatenate([targets[targets >= 0], np.array(tables, dtype=np.intp)]))

    def _in_step(self, frontier: Indices) -> Indices:
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
        return np.union1d(frontier[aligned], np.array(sorted(found), dtype=np.intp))

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
