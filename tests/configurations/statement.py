"""Which way each branch of the kernel's assembler went in which configuration.

A branch is a line of the sources: configurations compile the same line to different addresses, or
leave it out.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from composer.sources import runtime_folder
from tests.configurations.branches import TAKEN
from tests.configurations.switches import FACTORS

BEGIN, END = "<!-- made by make soak -->", "<!-- end of make soak -->"

Way = tuple[str, str]  # file:line, direction

# Ways that no run can show, each with its reason: by source, line of text and direction.
NOT_HERE: Mapping[tuple[str, str, str], str] = {
    ("entry.S", "blo 1b", TAKEN): "the kernel has no initialised variables to copy",
    ("request.inc", "cbnz r3, 1f", TAKEN): "the kernel asks only for what the description grants,"
    " and the hypervisor's tables are made from the same",
    ("signal.inc", "call syscall_table, FVM_CALLS", TAKEN): "the number is a constant there",
    ("wait.inc", "bne wait_saved", TAKEN): "whatever makes VCT ready ends USR's wait, too",
}
_SOURCES = runtime_folder() / "arch" / "armv7m"


def excepted(way: Way) -> str | None:
    """Why a way can't be shown."""
    return NOT_HERE.get((*_text(way[0]), way[1]))


@cache
def _text(place: str) -> tuple[str, str]:
    """The source, and what stands in the line, without a comment."""
    name, _, line = place.partition(" ")[0].partition(":")
    text = (_SOURCES / name).read_text("utf-8").splitlines()[int(line) - 1]
    return name, " ".join(text.partition("/*")[0].split())


def line_of(name: str, text: str, following: str) -> str:
    """The place of a line, by what stands in it and in the next one."""
    lines = (_SOURCES / name).read_text("utf-8").splitlines()
    (number,) = (
        index
        for index in range(1, len(lines))
        if _text(f"{name}:{index}")[1] == text and _text(f"{name}:{index + 1}")[1] == following
    )
    return f"{name}:{number}"


class Statement:
    """Of all systems so far."""

    def __init__(self) -> None:
        self._built: dict[Way, set[str]] = defaultdict(set)
        self._taken: dict[Way, set[str]] = defaultdict(set)

    def add(self, name: str, ways: Iterable[Way], taken: Iterable[Way]) -> None:
        for way in ways:
            self._built[way].add(name)
        for way in taken:
            self._taken[way].add(name)

    def read(self, file: Path, without: set[str]) -> None:
        """What an earlier run wrote, but for these configurations."""
        for one in json.loads(file.read_text("utf-8")):
            way = one["place"], one["direction"]
            self._built[way] |= set(one["built in"]) - without
            self._taken[way] |= set(one["taken in"]) - without

    def never(self) -> list[Way]:
        return sorted(
            (way for way in self._built if not self._taken[way] and not excepted(way)),
            key=_order,
        )

    def needless(self) -> list[Way]:
        """Ways that are excepted and were taken."""
        return sorted(way for way in self._built if self._taken[way] and excepted(way))

    def sentence(self) -> str:
        places = {place for place, _ in self._built}
        taken = sum(bool(self._taken[way]) for way in self._built)
        said = f"{len(places)} branches, {taken} of {len(self._built)} directions taken"
        return f"{said}, {len(NOT_HERE)} excepted" if NOT_HERE else said

    def write(self, file: Path) -> None:
        found = [
            {
                "place": place,
                "direction": way,
                "built in": sorted(self._built[place, way]),
                "taken in": sorted(self._taken.get((place, way), ())),
            }
            for place, way in sorted(self._built, key=_order)
        ]
        file.write_text(json.dumps(found, indent=1) + "\n", "utf-8")

    def by_file(self) -> list[str]:
        """A row of each source: how much, and how rare the rarest is."""
        lines = [
            "| source | branches | directions | taken | in the fewest systems |",
            "|---|---|---|---|---|",
        ]
        files = sorted({place.partition(":")[0] for place, _ in self._built})
        for name in files:
            mine = [way for way in self._built if way[0].startswith(f"{name}:")]
            taken = {way: len(self._taken[way]) for way in mine if self._taken[way]}
            fewest = min(taken.values(), default=0)
            rare = [f"line {p.partition(':')[2]} {w}" for p, w in sorted(taken, key=_order)
                    if taken[p, w] == fewest]  # fmt: skip
            places = len({place for place, _ in mine})
            more = f" and {len(rare) - 3} more" if len(rare) > 3 else ""
            lines.append(
                f"| `{name}` | {places} | {len(mine)} | {len(taken)} |"
                f" {fewest}: {', '.join(rare[:3])}{more} |"
            )
        return lines


def _order(way: Way) -> tuple[str, int, str]:
    name, _, line = way[0].partition(":")
    return name, int(line.partition(" ")[0]), way[0] + way[1]


def write_tables(
    document: Path, results: Mapping[str, Mapping[str, Any]], statement: Statement
) -> None:
    """Between the markers; the rest of the page is kept."""
    ticks = [result["ticks"] for result in results.values() if "switches" in result]
    text = document.read_text("utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    made = "\n".join(
        [
            *_configurations(results),
            "",
            f"Of each configuration {min(ticks)} to {max(ticks)} kernel ticks."
            f" Branches of the kernel's assembler: {statement.sentence()}.",
            "",
            *statement.by_file(),
            "",
            *(f"Never taken: {place} {way}.\n" for place, way in statement.never()),
            *(
                f"Excepted: `{text}` of `{name}`, {way}: {why}.\n"
                for (name, text, way), why in NOT_HERE.items()
            ),
        ]
    )
    document.write_text(f"{before}{BEGIN}\n\n{made}\n\n{END}{after}", "utf-8")


def _configurations(results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The named systems, and what each configuration has beside the first value of every switch."""
    lines = [
        "| | configuration | comparisons | crimes | restarts | result |",
        "|---|---|---|---|---|---|",
    ]
    for name, result in results.items():
        said = result.get("what") or _beside_first(result["switches"])
        result_said = "broken: see what the campaign said" if result["complaints"] else "holds"
        lines.append(
            f"| {name} | {said} | {sum(result['compared'].values())} |"
            f" {sum(result['crimes'].values())} | {sum(result['restarts'].values())} |"
            f" {result_said} |"
        )
    return lines


def _beside_first(switches: Mapping[str, str]) -> str:
    said = [
        value if value != "yes" else factor
        for factor, value in switches.items()
        if factor == "board" or value == "yes"
    ]
    said += [
        f"{factor} {switches[factor]}"
        for factor in FACTORS
        if factor != "board" and switches[factor] not in ("yes", "no", FACTORS[factor][0])
    ]
    return ", ".join(said)
