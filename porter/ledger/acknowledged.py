"""Places that stay as they are because a person answers for them.

An acknowledgement names a place by the text of its line, not by its number: it outlives lines that
move, and falls when the line itself changes. Each stands for one line, so that a second line of the
same text needs a second look.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Acknowledgement:
    """As the description has it; `rule` is one of the porter's or, of what a built program still
    holds, one of the scanner's."""

    rule: str
    file: str
    text: str
    reason: str

    def __str__(self) -> str:
        return f"{self.rule} in {self.file}: {self.text}"


@dataclass(frozen=True)
class OpenPlace:
    """A place that needs a person: a line of a file below the project, and its text."""

    rule: str
    file: str
    line: int
    text: str
    what: str

    @property
    def element(self) -> str:
        """The element of a description that acknowledges it, without the reason."""
        # It brings half of the library for the network, and every command reads acknowledgements.
        from xml.sax.saxutils import quoteattr

        rule, file, text = map(quoteattr, (self.rule, self.file, self.text))
        return f'<acknowledge rule={rule} file={file} line-text={text} reason="..."/>'


@dataclass(frozen=True)
class Settled:
    """Reasons for the places that are acknowledged; `idle`: acknowledgements of nothing."""

    reasons: dict[OpenPlace, str]
    idle: tuple[Acknowledgement, ...]


def plain(text: str) -> str:
    """A line's text as an attribute holds it: runs of blanks are one."""
    return " ".join(text.split())


def read_acknowledgements(items: Iterable[Any]) -> tuple[Acknowledgement, ...]:
    """Those of a domain file. KeyError or TypeError where it is none."""
    return tuple(
        Acknowledgement(
            str(item["rule"]), str(item["file"]), plain(str(item["text"])), str(item["reason"])
        )
        for item in items
    )


def settle(places: Iterable[OpenPlace], given: Sequence[Acknowledgement]) -> Settled:
    """Which places are acknowledged. All places of one rule in one line need one."""
    lines: dict[tuple[str, str, int], list[OpenPlace]] = {}
    for place in places:
        lines.setdefault((place.rule, place.file, place.line), []).append(place)
    left = Counter((it.rule, it.file, it.text) for it in given)
    by_key = {(it.rule, it.file, it.text): it for it in given}
    reasons: dict[OpenPlace, str] = {}
    for (rule, file, _), members in sorted(lines.items()):
        key = rule, file, members[0].text
        if left[key]:
            left[key] -= 1
            reasons.update(dict.fromkeys(members, by_key[key].reason))
    idle = tuple(it for key, it in by_key.items() for _ in range(left[key]))
    return Settled(reasons, idle)
