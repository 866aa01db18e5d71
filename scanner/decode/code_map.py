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

from scanner.decode.code_space import CodeSpace
from scanner.decode.descent import Descent
from scanner.decode.flow_graph import FlowGraph
from scanner.decode.instruction_set import Flags, Indices, InstructionSet
from scanner.decode.long_jumps import constants_behind_jumps
from scanner.decode.marks import Marks
from scanner.image.symbols import Addresses, SymbolTable


@dataclass(frozen=True)
class CodeMap:
    """`certain`: an instruction begins here; `listed`: and it isn't loaded as a constant."""

    certain: Marks
    listed: Marks


def build_code_map(
    space: CodeSpace, isa: InstructionSet, symbols: SymbolTable | None, entries: Sequence[int]
) -> CodeMap:
    """Grade every halfword of the space."""
    if not entries and isa.starts_with_code:
        entries = (space.address(0),)
    pointers = [*isa.vectors(space), *entries]
    places = space.indices(isa.code_addresses(np.array(pointers, dtype=np.int64)))
    syncs = Marks.at(len(space), places[places >= 0])
    code = data = None
    if symbols is not None:
        code, data = _symbols(space, isa, symbols, syncs)
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
    del graph
    listed = certain.without(Marks.at(len(space), isa.literals(space, certain)))
    return CodeMap(certain, listed)


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
) -> tuple[Marks, Marks]:
    """Halfwords that are code inside a function's extent, and data; marks where code begins."""
    markers, is_code = symbols.markers(isa.code_markers)
    starts, sizes = symbols.functions()
    code, data = _marked(space, markers, is_code)
    places = space.indices(markers[is_code].astype(np.int64))
    syncs.add(places[places >= 0])
    bodies = _bodies(space, isa, starts, sizes, syncs)
    if not len(markers) and not isa.mixes_constants:
        return bodies, data
    return code & bodies, data


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
) -> Marks:
    """Halfwords inside a function's extent; marks where functions begin."""
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
        return Marks.none(len(space))
    return Marks.within(len(space), begins[firsts], reach[lasts])
