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
from scanner.decode.instruction_set import Flags, Indices, InstructionSet
from scanner.image.symbols import Addresses, SymbolTable

_CHUNK = 1 << 17


@dataclass(frozen=True)
class CodeMap:
    """`certain`: an instruction begins here.

    `listed`: and neither does a mapping symbol call it data nor is it loaded as a constant.
    """

    certain: Flags
    listed: Flags


def build_code_map(
    space: CodeSpace, isa: InstructionSet, symbols: SymbolTable | None, entries: Sequence[int]
) -> CodeMap:
    """Grade every halfword of the space."""
    if not entries and isa.starts_with_code:
        entries = (space.address(0),)
    pointers = [*isa.vectors(space), *entries]
    syncs = np.zeros(len(space), dtype=np.bool_)
    _mark(syncs, space, isa.code_addresses(np.array(pointers, dtype=np.int64)))
    code = data = None
    if symbols is not None:
        code, data = _symbols(space, isa, symbols, syncs)
    seeds = np.flatnonzero(syncs)
    starts = sweep(space, isa, syncs)
    del syncs
    graph = FlowGraph(space, isa, starts)
    if data is not None:
        graph.stop_calls_before(space, isa, data)
    certain = _reached(space, isa, starts, graph, seeds, symbols is None)
    if data is None or not data.any():
        constants = np.zeros(len(space), dtype=np.bool_)
        constants[isa.literals(space, certain)] = True
        if graph.stop_calls_before(space, isa, constants):
            certain = _reached(space, isa, starts, graph, seeds, symbols is None)
    del graph
    if code is not None:
        code &= starts
        certain |= code
    listed = certain.copy() if data is None else certain > data
    listed[isa.literals(space, certain)] = False
    return CodeMap(certain, listed)


def _reached(
    space: CodeSpace,
    isa: InstructionSet,
    starts: Flags,
    graph: FlowGraph,
    seeds: Indices,
    by_pointer: bool,
) -> Flags:
    """What control reaches from the seeds, and from functions whose address is made there."""
    descent = Descent(space, isa, starts, graph)
    descent.follow(seeds)
    if by_pointer:
        descent.follow(isa.pointers(space, descent.certain()))
    return descent.certain()


def _mark(marks: Flags, space: CodeSpace, addresses: npt.NDArray[np.int64]) -> None:
    indices = space.indices(addresses)
    marks[indices[indices >= 0]] = True


def _symbols(
    space: CodeSpace, isa: InstructionSet, symbols: SymbolTable, syncs: Flags
) -> tuple[Flags, Flags]:
    """Halfwords that are code inside a function's extent, and data; marks where code begins."""
    markers, is_code = symbols.markers(isa.code_markers)
    starts, sizes = symbols.functions()
    code, data = _marked(space, markers, is_code)
    _mark(syncs, space, markers[is_code].astype(np.int64))
    bodies = _bodies(space, isa, starts, sizes, syncs)
    if not len(markers) and not isa.mixes_constants:
        return bodies, data
    code &= bodies
    return code, data


def sweep(space: CodeSpace, isa: InstructionSet, syncs: Flags) -> Flags:
    """Starts of instructions read one after the other, beginning anew at each sync.

    An instruction begins behind every halfword that can't open a wide one, however control came to
    that halfword; in a row of halfwords that can, every second begins one. So a start is an even
    distance behind the last halfword where that count begins anew.
    """
    found = np.empty(len(space), dtype=np.bool_)
    positions = np.arange(_CHUNK, dtype=np.int32)
    restart = np.ones(_CHUNK, dtype=np.bool_)
    for begin in range(0, len(space), _CHUNK):
        end = min(begin + _CHUNK, len(space))
        size = end - begin
        wide = np.take(isa.wide, space.halfwords[begin:end], mode="clip")
        np.logical_not(wide[:-1], out=restart[1:size])
        restart[1:size] |= syncs[begin + 1 : end]
        inside = begin > 0 and found[begin - 1] and isa.wide[space.halfwords[begin - 1]]
        restart[0] = syncs[begin] or not inside
        anchors = np.maximum.accumulate(np.where(restart[:size], positions[:size], -1))
        np.equal((positions[:size] ^ anchors) & 1, 0, out=found[begin:end])
    for barrier in space.barriers:
        found[barrier] = True
        if barrier and isa.wide[space.halfwords[barrier - 1]]:
            found[barrier - 1] = False  # cut off by the end of memory
    return found


def _marked(space: CodeSpace, markers: Addresses, is_code: Flags) -> tuple[Flags, Flags]:
    """Halfwords from a code marker, and from any other, up to the next marker."""
    code, data = (np.zeros(len(space), dtype=np.bool_) for _ in range(2))
    for first, length, address in space.runs():
        edges = np.clip((markers.astype(np.int64) - address + 1) // 2, 0, length)
        lengths = np.diff(edges, prepend=0, append=length)
        code[first : first + length] = np.repeat(np.append(False, is_code), lengths)
        data[first : first + length] = np.repeat(np.append(False, ~is_code), lengths)
    return code, data


def _bodies(
    space: CodeSpace, isa: InstructionSet, starts: Addresses, sizes: Addresses, syncs: Flags
) -> Flags:
    """Halfwords inside a function's extent; marks where functions begin."""
    addresses = isa.code_addresses(starts.astype(np.int64))
    begins = space.indices(addresses)
    known = begins >= 0
    begins = begins[known]
    ends = np.maximum(space.nearest(addresses[known] + sizes[known]), begins)
    syncs[begins] = True
    return _covered(len(space), begins, ends)


def _covered(length: int, begins: Indices, ends: Indices) -> Flags:
    """Marks of what lies in one of the ranges."""
    order = np.argsort(begins)
    begins, reach = begins[order], np.maximum.accumulate(ends[order])
    apart = np.flatnonzero(begins[1:] > reach[:-1])
    edges = np.zeros(length + 1, dtype=np.int8)
    if len(begins):
        edges[begins[np.append(0, apart + 1)]] = 1
        edges[reach[np.append(apart, len(reach) - 1)]] -= 1
    np.cumsum(edges, out=edges)
    return edges[:-1].view(np.bool_)
