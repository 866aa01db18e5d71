"""Adds to findings one path from where the program starts, in a person's names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scanner.decode.code_map import CodeMap
from scanner.decode.code_space import CodeSpace
from scanner.decode.instruction_set import InstructionSet
from scanner.decode.marks import Marks
from scanner.image.model import Image
from scanner.paths import Hop, paths
from scanner.places import Places
from scanner.report.finding import Finding, Step


def with_paths(
    findings: Sequence[Finding],
    space: CodeSpace,
    isa: InstructionSet,
    code: CodeMap,
    image: Image,
    entries: Sequence[int],
    places: Places,
    avoided: Marks,
) -> list[Finding]:
    """The findings with the steps to each that control comes to without what is `avoided`."""
    wanted = {f.address: space.index(f.address) for f in findings if f.address is not None}
    indices = [index for index in wanted.values() if index is not None]
    found = paths(space, isa, code, image.symbols, entries, indices, avoided)
    told = {index: _between_functions(hops, space, places) for index, hops in found.items()}
    sources = places.sources(
        space.address(hop.index if hop.source is None else hop.source)
        for hops in told.values()
        for hop in hops
    )
    return [
        replace(one, path=tuple(_step(hop, space, places, sources) for hop in told[index]))
        if one.address is not None and (index := wanted[one.address]) in told
        else one
        for one in findings
    ]


def _between_functions(hops: Sequence[Hop], space: CodeSpace, places: Places) -> list[Hop]:
    """Without the jumps inside of functions that have a name."""

    def function(index: int) -> str | None:
        return places.function(space.address(index))

    return [
        hop
        for hop in hops
        if hop.way != "jump"
        or hop.source is None
        or function(hop.source) is None
        or function(hop.source) != function(hop.index)
    ]


def _step(hop: Hop, space: CodeSpace, places: Places, sources: dict[int, str]) -> Step:
    at = space.address(hop.index if hop.source is None else hop.source)
    return Step(hop.way, places.function(space.address(hop.index)), at, sources.get(at))
