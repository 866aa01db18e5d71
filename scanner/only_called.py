"""Functions that nothing but privileged code calls: they run with privilege, wherever they lie.

A function is a guest's unless all that is known to lead to it is privileged: its address mustn't
stand anywhere but in a vector table, nor be made by an instruction, and no guest's path may go
there. A system begins with privilege, so what it starts with, and handlers, are privileged alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from scanner.decode.code_map import CodeMap
from scanner.decode.code_space import CodeSpace
from scanner.decode.instruction_set import Flags, Flow, Indices, InstructionSet
from scanner.decode.marks import Marks
from scanner.decode.select import previous
from scanner.decode.transfers import transfers
from scanner.image.model import Image

_STAY = (Flow.JUMP, Flow.RETURN, Flow.STOP, Flow.COMPUTED)


def only_called(
    space: CodeSpace,
    isa: InstructionSet,
    image: Image,
    code: CodeMap,
    kernel: Marks,
    entries: tuple[Sequence[int], Sequence[int]],
) -> list[range]:
    """The extents of such functions outside of the `kernel`.

    Of the `entries`, code pointers, the first ones are where the system starts; others that a
    person names may be a guest's.
    """
    functions = _Functions(space, isa, image)
    if not functions.count:
        return []
    starting = np.array([*isa.vectors(space), *entries[0]], dtype=np.int64)
    named = np.array(entries[1], dtype=np.int64)
    own = kernel[functions.begins]
    # Two more nodes stand for code of the kernel and of guests that is in no function.
    own = np.append(own, [True, False])
    sources, targets = _edges(space, isa, code, functions)
    froms, tos = functions.nodes(sources, kernel), functions.nodes(targets, kernel)
    apart = froms != tos
    froms, tos = froms[apart], tos[apart]
    started = functions.marked(space.indices(isa.code_addresses(starting)))
    called = np.zeros(len(own), dtype=np.bool_)
    called[tos] = True
    guests = functions.marked(_pointed(space, isa, image, code, starting)) | ~(called | started)
    guests |= functions.marked(space.indices(isa.code_addresses(named)))
    guests[-1] = True
    guests = _reached(guests & ~own, froms, tos, own)
    privileged = _reached((own | started) & ~guests, froms, tos, guests)
    return functions.extents(np.flatnonzero((privileged & ~own)[:-2]))


class _Functions:
    """The functions that symbols give a size, one for each place where some begin."""

    def __init__(self, space: CodeSpace, isa: InstructionSet, image: Image) -> None:
        self._space = space
        nothing = np.zeros(0, dtype=np.uint32)
        values, sizes = image.symbols.functions() if image.symbols else (nothing, nothing)
        addresses = isa.code_addresses(values.astype(np.int64))
        begins = space.indices(addresses)
        known = (begins >= 0) & (sizes > 0)
        ends = begins[known] + (sizes[known].astype(np.intp) + 1) // 2
        self.begins, which = np.unique(begins[known], return_inverse=True)
        self._ends = np.zeros(len(self.begins), dtype=np.intp)
        np.maximum.at(self._ends, which, ends)
        self.count = len(self.begins)

    def nodes(self, indices: Indices, kernel: Marks) -> Indices:
        """The function of each halfword, else one of the two nodes behind them."""
        rows = np.maximum(np.searchsorted(self.begins, indices, "right") - 1, 0)
        inside = (indices >= self.begins[rows]) & (indices < self._ends[rows])
        nowhere = np.where(kernel[indices], self.count, self.count + 1)
        return np.where(inside, rows, nowhere)

    def marked(self, indices: Indices) -> Flags:
        """Nodes of the functions that hold one of the halfwords, which may be -1 for none."""
        found = np.zeros(self.count + 2, dtype=np.bool_)
        none = Marks.none(len(self._space))
        found[self.nodes(indices[indices >= 0], none)] = True
        found[-2:] = False
        return found

    def extents(self, numbers: Indices) -> list[range]:
        """Addresses of functions."""
        first = self._space.addresses(self.begins[numbers])
        last = first + 2 * (self._ends[numbers] - self.begins[numbers])
        return [range(*edges) for edges in zip(first.tolist(), last.tolist(), strict=True)]


def _edges(
    space: CodeSpace, isa: InstructionSet, code: CodeMap, functions: _Functions
) -> tuple[Indices, Indices]:
    """From where to where control is known to go, and into functions from what lies before them."""
    rows = transfers(space, isa, code.certain)
    known = np.flatnonzero(rows.targets >= 0)
    before = previous(space, isa.wide, code.certain, functions.begins)
    staying = rows.indices[np.isin(rows.kinds, _STAY)]
    onward = np.flatnonzero((before >= 0) & ~np.isin(before, staying))
    return (
        np.concatenate([rows.indices[known], before[onward]]),
        np.concatenate([rows.targets[known].astype(np.intp), functions.begins[onward]]),
    )


def _pointed(
    space: CodeSpace,
    isa: InstructionSet,
    image: Image,
    code: CodeMap,
    starting: npt.NDArray[np.int64],
) -> Indices:
    """Halfwords whose address some word holds, vector tables and entries aside, or code makes."""
    words = [np.zeros(0, dtype=np.uint32)]
    for segment in image.segments:
        data = segment.data[-segment.address % 4 :]
        words.append(np.frombuffer(data, dtype="<u4", count=len(data) // 4))
    values, counts = np.unique(np.concatenate(words), return_counts=True)
    tabled, times = np.unique(starting, return_counts=True)
    at = np.minimum(np.searchsorted(tabled, values), max(len(tabled) - 1, 0))
    if len(tabled):
        counts -= np.where(tabled[at] == values, times[at], 0)
    made = isa.constants(space, code.listed)[0].values
    pointers = np.concatenate([values[counts > 0], np.unique(made)]).astype(np.int64)
    return space.indices(isa.code_addresses(pointers))


def _reached(nodes: Flags, froms: Indices, tos: Indices, closed: Flags) -> Flags:
    """The nodes and all to which edges lead from them, without any that is closed."""
    order = np.argsort(froms, kind="stable")
    onward = tos[order].tolist()
    edges = np.searchsorted(froms[order], np.arange(len(nodes) + 1)).tolist()
    shut = closed.tolist()
    work: list[int] = np.flatnonzero(nodes).tolist()
    found = set(work)
    while work:
        node = work.pop()
        for target in onward[edges[node] : edges[node + 1]]:
            if target not in found and not shut[target]:
                found.add(target)
                work.append(target)
    reached: Flags = np.zeros(len(nodes), dtype=np.bool_)
    reached[list(found)] = True
    return reached
