"""Places of the oracle beside the porter's JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.trees.oracle import Tree
from tests.trees.place import Place


def unaccounted(tree: Tree, report: dict[str, Any]) -> list[Place]:
    """Places that neither a site nor an edited stretch of the porter covers.

    A macro's body without a site is in order where each use of it has one: then these are the
    sites, and one that has none is the miss. A macro that nothing uses is no place, nor is what
    stands in a file that the porter says it didn't read.
    """
    covered = _covered(report)
    unread = frozenset(report["unread"])

    def is_covered(place: Place) -> bool:
        return any(
            first <= place.last and place.line <= last
            for first, last in covered.get(place.file, ())
        )

    def misses(place: Place, above: frozenset[str]) -> Iterator[Place]:
        if place.file in unread or is_covered(place):
            return
        if not place.macro:
            yield place
        elif place.macro not in above:
            for use in tree.uses.get(place.macro, ()):
                yield from misses(use, above | {place.macro})

    found = {miss for place in tree.places for miss in misses(place, frozenset())}
    direct = {(it.file, it.line, it.text) for it in found if it.kind != "use"}
    return sorted(
        it for it in found if it.kind != "use" or (it.file, it.line, it.text) not in direct
    )


def _covered(report: dict[str, Any]) -> dict[str, list[tuple[int, int]]]:
    covered: dict[str, list[tuple[int, int]]] = {}
    for site in report["sites"]:
        covered.setdefault(site["file"], []).append((site["line"], site["end_line"]))
    for file, stretches in report["edited"].items():
        covered.setdefault(file, []).extend((first, last) for first, last in stretches)
    return covered
