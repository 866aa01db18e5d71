"""Which halfwords are known to begin an instruction.

Two sources make a start certain: the symbol table (inside a function's extent, what a mapping
symbol calls code is read from its beginning) and recursive descent over direct branches. Mapping
symbols can lie, so they only ever add starts. A last function's mapping symbol reaches over the
read-only data that a linker script may put behind it, hence the limit to function extents.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from scanner.decode.code_space import CodeSpace
from scanner.decode.descent import Descent
from scanner.decode.flow_graph import FlowGraph
from scanner.decode.instruction_set import Flags, InstructionSet
from scanner.image.symbols import Addresses, SymbolTable

_MAX_VECTORS = 512
_CHUNK = 1 << 17
_UNMARKED, _CODE, _DATA = range(3)


@dataclass(frozen=True)
class CodeMap:
    """`certain`: an instruction begins here.

    `listed`: and neither does a mapping symbol call it data nor is it loaded as a constant.
    """

    certain: Flags
    listed: Flags


def build_code_map(
    space: CodeSpace, isa: InstructionSet, symbols: SymbolTable | None, entry: int | None
) -> CodeMap:
    """Grade every halfword of the space."""
    if entry is None and isa.starts_with_code:
        entry = space.address(0)
    pointers = _vectors(space, isa) + ([] if entry is None else [entry])
    syncs = np.zeros(len(space), dtype=np.bool_)
    _mark(syncs, space, [isa.code_address(pointer) for pointer in pointers if pointer])
    code = data = None
    if symbols is not None:
        code, data = _symbols(space, isa, symbols, syncs)
    seeds = np.flatnonzero(syncs)
    starts = sweep(space, isa, syncs)
    descent = Descent(space, isa, starts, FlowGraph(space, isa, starts))
    descent.follow(seeds)
    if symbols is None:
        descent.follow(isa.pointers(space, descent.certain()))
    certain = descent.certain()
    if code is not None:
        code &= starts
        certain |= code
    listed = certain if data is None else certain & ~data
    listed = listed.copy()
    listed[isa.literals(space, certain)] = False
    return CodeMap(certain, listed)


def _mark(marks: Flags, space: CodeSpace, addresses: Iterable[int | None]) -> None:
    known = np.array([a for a in addresses if a is not None], dtype=np.int64)
    indices = space.indices(known)
    marks[indices[indices >= 0]] = True


def _symbols(
    space: CodeSpace, isa: InstructionSet, symbols: SymbolTable, syncs: Flags
) -> tuple[Flags, Flags]:
    """Halfwords that are code inside a function's extent, and data; marks where code begins."""
    markers, is_code = symbols.markers(isa.code_markers)
    starts, sizes = symbols.functions()
    code, data = _marked(space, markers, is_code)
    _mark(syncs, space, markers[is_code].tolist())
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
        anchors = np.maximum.accumulate(np.where(restart[:size], positions[:size], 0))
        np.equal((positions[:size] ^ anchors) & 1, 0, out=found[begin:end])
    for barrier in space.barriers:
        found[barrier] = True
        if barrier and isa.wide[space.halfwords[barrier - 1]]:
            found[barrier - 1] = False  # cut off by the end of memory
    return found


def _vectors(space: CodeSpace, isa: InstructionSet) -> list[int]:
    """Code pointers of a vector table at the beginning of executable memory."""
    for first, length, _ in space.runs():
        words = space.halfwords[first : first + min(length // 2, _MAX_VECTORS) * 2].view("<u4")
        entries = isa.vector_entries(words.tolist())
        if entries and _leads_into(space, isa, entries[0]):
            return entries
    return []


def _leads_into(space: CodeSpace, isa: InstructionSet, pointer: int) -> bool:
    address = isa.code_address(pointer)
    return address is not None and space.index(address) is not None


def _marked(space: CodeSpace, markers: Addresses, is_code: Flags) -> tuple[Flags, Flags]:
    """Halfwords from a code marker, and from any other, up to the next marker."""
    kinds = np.zeros(len(space), dtype=np.uint8)
    states = np.concatenate([[_UNMARKED], np.where(is_code, _CODE, _DATA)]).astype(np.uint8)
    for first, length, address in space.runs():
        edges = np.clip((markers.astype(np.int64) - address + 1) // 2, 0, length)
        lengths = np.diff(edges, prepend=0, append=length)
        kinds[first : first + length] = np.repeat(states, lengths)
    return kinds == _CODE, kinds == _DATA


def _bodies(
    space: CodeSpace, isa: InstructionSet, starts: Addresses, sizes: Addresses, syncs: Flags
) -> Flags:
    """Halfwords inside a function's extent; marks where functions begin."""
    depth = np.zeros(len(space) + 1, dtype=np.int32)
    for pointer, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        address = isa.code_address(pointer)
        index = None if address is None else space.index(address)
        if address is None or index is None:
            continue
        syncs[index] = True
        depth[index] += 1
        depth[max(space.nearest(address + size), index)] -= 1
    np.cumsum(depth, out=depth)
    return depth[:-1] > 0
