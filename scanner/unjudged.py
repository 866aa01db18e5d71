"""What of a program is followed and not judged, because it runs with privilege."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from scanner.decode.code_map import CodeMap
from scanner.decode.code_space import CodeSpace
from scanner.decode.instruction_set import InstructionSet
from scanner.decode.marks import Marks
from scanner.decode.transfers import transfers
from scanner.image.model import Image, Problem
from scanner.only_called import only_called
from scanner.privileged import privileged_code


@dataclass(frozen=True)
class Unjudged:
    """`marks` of such halfwords, what says that they are, and sentences on them.

    `problem` says so if nothing else is left.
    """

    marks: Marks
    known_by: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    problem: Problem | None = None


def unjudged_code(
    space: CodeSpace,
    isa: InstructionSet,
    image: Image,
    code: CodeMap,
    entries: tuple[Sequence[int], Sequence[int]],
    names: Sequence[str],
    recognise: bool,
) -> Unjudged:
    """The code that `names` mean or, without any, the system's layout; and what only that calls.

    `entries` are code pointers where the program says that it starts, and where a person does.
    """
    found = privileged_code(image, names, recognise)
    if not found.ranges:
        return Unjudged(Marks.none(len(space)), remarks=found.remarks)
    kernel = _within(space, found.ranges)
    more = only_called(space, isa, image, code, kernel, entries)
    marks = kernel | _within(space, more)
    apart = marks | _within(space, found.gates)
    remarks = [*found.remarks, *_straight(space, isa, image, code, kernel, apart)]
    if more:
        remarks.insert(0, f"{len(more)} functions that only such code calls are privileged, too")
    rest = code.certain.without(marks)
    text = f"all code that was found is privileged ({', '.join(found.known_by)})"
    problem = None if rest.any() else Problem("no-guest", text)
    return Unjudged(marks, found.known_by, tuple(remarks), problem)


def _within(space: CodeSpace, ranges: Sequence[range]) -> Marks:
    begins = space.nearest(np.array([one.start for one in ranges], dtype=np.int64))
    ends = space.nearest(np.array([one.stop for one in ranges], dtype=np.int64))
    return Marks.within(len(space), begins, ends)


def _straight(
    space: CodeSpace,
    isa: InstructionSet,
    image: Image,
    code: CodeMap,
    kernel: Marks,
    apart: Marks,
) -> Iterator[str]:
    """How often other code than what is `apart` goes into the kernel, and where first."""
    rows = transfers(space, isa, code.certain)
    known = np.flatnonzero(rows.targets >= 0)
    sources, targets = rows.indices[known], rows.targets[known]
    straight = sources[kernel[targets] & ~apart[sources]]
    if len(straight):
        address = space.address(int(straight[0]))
        name = image.symbols.function_at(address) if image.symbols else None
        where = f"0x{address:08x}" + (f" {name}" if name else "")
        yield (
            f"{len(straight)} times judged code goes there without an SVC, first at {where}: it "
            "faults without privilege"
        )
