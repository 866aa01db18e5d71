"""Calls that only mean to jump within a function, and the constants behind them.

Where branches don't reach far, as on ARMv6-M, GCC jumps by BL. What is called then is a place that
the function also runs into, and from there on nobody reads the link register before it is changed.
"""

from __future__ import annotations

import numpy as np

from scanner.decode.code_space import CodeSpace
from scanner.decode.flow_graph import FlowGraph
from scanner.decode.instruction_set import Flags, Flow, Indices, InstructionSet
from scanner.decode.marks import CHUNK, Marks
from scanner.decode.select import among, has_form, previous

_LOAD_REACH = 512
"""So many halfwords ahead a core whose branches don't reach far loads constants from."""

_LINE, _LINES = 32, 8
"""A function that calls saves its return address within a few such stretches of halfwords."""


def constants_behind_jumps(
    space: CodeSpace, isa: InstructionSet, graph: FlowGraph, certain: Marks
) -> Marks:
    """Constants right behind such calls among the marked instructions, whoever loads them.

    Even a load that no path is known to reach tells that the call doesn't come back there.
    """
    if not isa.mixes_constants:
        return Marks.none(len(space))
    parts = range(0, len(graph.kinds), CHUNK)
    ends = np.concatenate([_ends(space, isa, graph, certain, begin) for begin in parts])
    begins = np.maximum(ends - _LOAD_REACH, np.append(0, ends)[: len(ends)])
    loads = graph.starts & Marks.within(len(space), begins, ends)
    places = np.minimum(np.concatenate([ends, ends + 1]), len(space) - 1)
    return Marks.at(len(space), isa.literals(space, loads)) & Marks.at(len(space), places)


def _ends(
    space: CodeSpace, isa: InstructionSet, graph: FlowGraph, certain: Marks, begin: int
) -> Indices:
    """Indices behind such calls, for a chunk of nodes."""
    part = slice(begin, begin + CHUNK)
    calls = (graph.kinds[part] == Flow.CALL) & (graph.targets[part] >= 0) & graph.falls[part]
    nodes = np.flatnonzero(calls) + begin
    nodes = nodes[certain[graph.indices[nodes]]]
    before = previous(space, isa.wide, certain, graph.targets[nodes].astype(np.intp))
    nodes, before = nodes[before >= 0], before[before >= 0]
    leading = graph.node(before)
    nodes = nodes[(graph.indices[leading] != before) | graph.falls[leading]]
    lost = _link_is_lost(space, isa, graph, graph.targets[nodes].astype(np.intp))
    return graph.behind(nodes[lost]).astype(np.intp)


def _link_is_lost(
    space: CodeSpace, isa: InstructionSet, graph: FlowGraph, places: Indices
) -> Flags:
    """Whether the path from each place on calls or returns and hasn't read the link before.

    Conditional branches aren't taken on it.
    """
    lost = np.zeros(len(places), dtype=np.bool_)
    reads = has_form(np.arange(0x10000, dtype=np.uint16), isa.link_reads)
    rows = np.arange(len(places))
    for _ in range(_LINES):
        nodes = graph.node(places)
        ends = graph.indices[nodes].astype(np.intp)
        unread = np.flatnonzero(ends - places < _LINE)
        for ahead in range(_LINE):
            if not len(unread):
                return lost
            at = places[unread] + ahead
            read = reads.take(space.halfwords.take(at, mode="clip"), mode="clip")
            unread = unread[(at > ends[unread]) | ~read]
        rows, nodes = rows[unread], nodes[unread]
        kinds, targets = graph.kinds[nodes], graph.targets[nodes]
        lost[rows[among(kinds, (Flow.CALL, Flow.COMPUTED_CALL, Flow.RETURN))]] = True
        jumps = (kinds == Flow.JUMP) & (targets >= 0)
        goes_on = jumps | among(kinds, (Flow.BRANCH, Flow.NEXT))
        places = np.where(jumps, targets, graph.behind(nodes))[goes_on].astype(np.intp)
        rows = rows[goes_on]
    return lost
