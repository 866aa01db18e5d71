"""Which halfwords are known to begin an instruction.

Two sources make a start certain: the symbol table (inside a function's extent, what a mapping
symbol calls code is read from its beginning) and recursive descent over direct branches. Mapping
symbols can lie, so they only ever add starts. A last function's mapping symbol reaches over the
read-only data that a linker script may put behind it, hence the limit to function extents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scanner.decode.code_space import CodeSpace
from scanner.decode.descent import Descent
from scanner.decode.flow_graph import FlowGraph
from scanner.decode.instruction_set import Flags, Flow, Indices, InstructionSet
from scanner.decode.long_jumps import constants_behind_jumps
from scanner.decode.marks import Marks
from scanner.image.symbols import Addresses, SymbolTable


@dataclass(frozen=True)
class Ways:
    """At how many places of the space known code is entered, by what says so.

    `astray` are code pointers of entries and vector tables that lead out of the space, or to no
    instruction of this set.
    """

    entries: int
    vectors: int
    functions: int
    astray: tuple[int, ...]


@dataclass(frozen=True)
class CodeMap:
    """`certain`: an instruction begins here; `listed`: and it isn't loaded as a constant.

    `flows` says whether any of what control reaches from the `ways` in goes elsewhere than on.
    `leaving` are jumps, branches and calls that lead out of the space, with the addresses. `graph`
    is kept only for who asks for it.
    """

    certain: Marks
    listed: Marks
    ways: Ways
    flows: bool
    leaving: tuple[Indices, npt.NDArray[np.int64]]
    graph: FlowGraph | None = None


def build_code_map(
    space: CodeSpace,
    isa: InstructionSet,
    symbols: SymbolTable | None,
    entries: Sequence[int],
    keep: bool = False,
) -> CodeMap:
    """Grade every halfword of the space, and `keep` the graph that this is known by."""
    if not entries and isa.starts_with_code:
        entries = (space.address(0),)
    vectors = isa.vectors(space)
    pointers = np.array([*vectors, *entries], dtype=np.int64)
    places = space.indices(isa.code_addresses(pointers))
    syncs = Marks.at(len(space), places[places >= 0])
    code = data = None
    functions = 0
    if symbols is not None:
        code, data, functions = _symbols(space, isa, symbols, syncs)
    ways = Ways(
        entries=_different(places[len(vectors) :]),
        vectors=_different(places[: len(vectors)]),
        functions=functions,
        astray=tuple(np.unique(pointers[places < 0]).tolist()),
    )
    seeds = syncs.indices()
    by_pointer = symbols is None or not symbols.has_markers
    graph = FlowGraph(space, isa, syncs)
    if data is not None and isa.mixes_constants:
        graph.stop_calls_before(space, isa, data, loaded=False)
    certain = _reached(space, isa, graph, seeds, by_pointer)
    if data is None or not data.any():
        constants = Marks.at(len(space), isa.literals(space, certain))
        constants.add(isa.tables(space, certain))
        constants |= constants_behind_jumps(space, isa, graph, certain)
        if graph.stop_calls_before(space, isa, constants, loaded=True):
            certain = _reached(space, isa, graph, seeds, by_pointer)
    if code is not None:
        certain |= code & graph.starts
    flows = bool(certain[graph.indices[graph.kinds != Flow.STOP]].any())
    leaving = _leaving(space, isa, graph, certain)
    kept = graph if keep else None
    del graph
    listed = certain.without(Marks.at(len(space), isa.literals(space, certain)))
    return CodeMap(certain, listed, ways, flows, leaving, kept)


def _leaving(
    space: CodeSpace, isa: InstructionSet, graph: FlowGraph, certain: Marks
) -> tuple[Indices, npt.NDArray[np.int64]]:
    """What goes to an address by its own bits that isn't in the space."""
    away = (graph.targets < 0) & (graph.kinds >= Flow.JUMP) & (graph.kinds <= Flow.CALL)
    at = graph.indices[np.flatnonzero(away)].astype(np.intp)
    at = at[certain[at]]
    flows = isa.flows(space.halfwords[at], space.halfwords.take(at + 1, mode="clip"))
    return at, space.addresses(at) + 2 * flows.distance.astype(np.int64)


def _different(places: Indices) -> int:
    """How many of them lie in the space, each counted once."""
    return len(np.unique(places[places >= 0]))


def _reached(
    space: CodeSpace,
    isa: InstructionSet,
    graph: FlowGraph,
    seeds: Indices,
    by_pointer: bool,
) -> Marks:
    """What control reaches from the seeds, and from functions whose address is made there."""
    descent = Descent(space, isa, graph)
    descent.follow(seeds)
    if by_pointer:
        descent.follow(isa.pointers(space, descent.certain()))
    return descent.certain()


def _symbols(
    space: CodeSpace, isa: InstructionSet, symbols: SymbolTable, syncs: Marks
) -> tuple[Marks, Marks, int]:
    """Halfwords that are code inside a function's extent, and data; how many functions there are.

    Marks where code begins.
    """
    markers, is_code = symbols.markers(isa.code_markers)
    starts, sizes = symbols.functions()
    code, data = _marked(space, markers, is_code)
    places = space.indices(markers[is_code].astype(np.int64))
    syncs.add(places[places >= 0])
    bodies, functions = _bodies(space, isa, starts, sizes, syncs)
    if not len(markers) and not isa.mixes_constants:
        return bodies, data, functions
    return code & bodies, data, functions


def _marked(space: CodeSpace, markers: Addresses, is_code: Flags) -> tuple[Marks, Marks]:
    """Halfwords from a code marker, and from any other, up to the next marker."""
    begins, ends = [], []
    for first, length, address in space.runs():
        edges = np.clip((markers.astype(np.int64) - address + 1) // 2, 0, length)
        begins.append((first + edges).astype(np.int32))
        ends.append(np.append(begins[-1][1:], np.int32(first + length))[: len(edges)])
    kinds = np.tile(is_code, len(begins))
    begin, end = np.concatenate(begins), np.concatenate(ends)
    return (
        Marks.within(len(space), begin[kinds], end[kinds]),
        Marks.within(len(space), begin[~kinds], end[~kinds]),
    )


def _bodies(
    space: CodeSpace, isa: InstructionSet, starts: Addresses, sizes: Addresses, syncs: Marks
) -> tuple[Marks, int]:
    """Halfwords inside a function's extent, and the number of functions; marks their begins."""
    addresses = isa.code_addresses(starts.astype(np.int64))
    begins = space.indices(addresses)
    known = begins >= 0
    begins = begins[known]
    ends = np.maximum(space.nearest(addresses[known] + sizes[known]), begins)
    syncs.add(begins)
    order = np.argsort(begins)
    begins, reach = begins[order], np.maximum.accumulate(ends[order])
    apart = np.flatnonzero(begins[1:] > reach[:-1])
    firsts, lasts = np.append(0, apart + 1), np.append(apart, len(begins) - 1)
    if not len(begins):
        return Marks.none(len(space)), 0
    inside = Marks.within(len(space), begins[firsts], reach[lasts])
    return inside, _different(begins)
