"""Code that runs with privilege beside guests: named by a person, or known by the system's layout.

It is followed like all code, since it may lead to a guest's, and not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scanner.image.model import Image
from scanner.layouts import recognised
from scanner.privileged_names import NOTHING, NUMBER

_PATTERN = "*?["


@dataclass(frozen=True)
class Privileged:
    """`ranges` of addresses, and what says so; `remarks` are sentences on what is left open.

    `gates` are ranges of guests' code from which a jump into the kernel is meant.
    """

    ranges: tuple[range, ...] = ()
    gates: tuple[range, ...] = ()
    known_by: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def privileged_code(image: Image, wanted: Sequence[str], recognise: bool) -> Privileged:
    """What of an image is privileged by names or, if there are none and `recognise`, by layout."""
    if NOTHING in wanted:
        return Privileged()
    layouts = tuple(recognised(image.symbols))
    gates = _joined(_all(image, [name for it in layouts for name in it.gates]))
    if wanted:
        met = tuple(name for name in wanted if _ranges(image, name))
        unmet = tuple(
            f"'{name}' names no privileged code in this program"
            for name in wanted
            if name not in met
        )
        return Privileged(_joined(_all(image, met)), gates, met, unmet)
    layouts = layouts if recognise else ()
    return Privileged(
        _joined(_all(image, [name for it in layouts for name in it.privileged])),
        gates,
        tuple(it.name for it in layouts),
        tuple(it.remark for it in layouts if it.remark is not None),
    )


def _all(image: Image, names: Sequence[str]) -> list[range]:
    return [one for name in names for one in _ranges(image, name)]


def _ranges(image: Image, name: str) -> list[range]:
    """The addresses that a section, functions' names, or BEGIN-END mean."""
    section = image.sections.get(name)
    if section is not None:
        return [section]
    symbols = image.symbols
    if name == "*":
        return [range(s.address, s.end) for s in image.segments if s.data]
    if symbols is not None:
        if any(character in name for character in _PATTERN):
            return symbols.functions_named(name)
        extent = symbols.extent(name)
        if extent is not None and extent[1]:
            return [range(extent[0], sum(extent))]
    first, dash, second = name.partition("-")
    begin, end = (_edge(image, edge) for edge in (first, second)) if dash else (None, None)
    return [range(begin, end)] if begin is not None and end is not None and begin < end else []


def _edge(image: Image, text: str) -> int | None:
    if NUMBER.fullmatch(text):
        return int(text, 0)
    return None if image.symbols is None else image.symbols.value(text)


def _joined(ranges: Sequence[range]) -> tuple[range, ...]:
    """The same addresses, in order, none twice."""
    found: list[range] = []
    for one in sorted(ranges, key=lambda it: it.start):
        if found and one.start <= found[-1].stop:
            found[-1] = range(found[-1].start, max(found[-1].stop, one.stop))
        else:
            found.append(one)
    return tuple(found)
