"""Where linker scripts and names of sections put what lies in one: `.uart 0x40004400 : {...}`,
`.uart : {...} > PERIPH`, `.ARM.__at_0x40004400`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from porter.project.linker_symbols import script_number
from porter.source.comments import without_comments

_REGION = re.compile(rb"(\w+)\s*(?:\([^()]*\))?\s*:\s*(?:ORIGIN|org|o)\s*=\s*([^,;{}]+?)\s*,")
_OUTPUT = re.compile(
    rb"(?<![\w.$*])([A-Za-z_.$][\w.$]*)(?:[ \t]+([^\s:{};,=>][^\n:{};,=>]*?))?"
    rb"\s*(?:\(\s*[A-Z]\w*\s*\)\s*)?:(?!=)[^{};]*\{"
)
_ORIGIN = re.compile(rb"\bORIGIN\s*\(\s*(\w+)\s*\)|\b__ORIGIN\b")
_TO_REGION = re.compile(rb"\}\s*>\s*(\w+)")
_PATTERN = re.compile(rb"(?<![\w$/-])\.?[A-Za-z_][\w.$*?\[\]-]*|\.[\w.$*?\[\]-]+")
_IN_NAME = re.compile(r"\.ARM\.__at_(0x[0-9a-f]+|\d+)", re.IGNORECASE)
_LARGEST = 1 << 20


@dataclass(frozen=True)
class PlacedSection:
    """A pattern of sections, and from where on they lie."""

    pattern: str
    address: int


def placed_sections(scripts: Iterable[Path]) -> list[PlacedSection]:
    """What scripts put at or behind an address that is a number."""
    small = (it for it in scripts if it.stat().st_size <= _LARGEST)
    return [it for script in small for it in _placed(without_comments(script.read_bytes()))]


def address_in_name(section: str) -> int | None:
    """The address that a section of Arm's linker has in its name."""
    match = _IN_NAME.fullmatch(section)
    return int(match[1], 0) if match else None


def _placed(text: bytes) -> Iterator[PlacedSection]:
    regions = {name: script_number(origin, {}) for name, origin in _REGION.findall(text)}
    for output in _OUTPUT.finditer(text):
        end = _closing(text, output.end())
        to = _TO_REGION.match(text, end)
        told = _ORIGIN.sub(lambda it: b"%d" % (regions.get(it[1]) or 0), output[2] or b"")
        address = script_number(told, {}) if told.strip() else None
        address = regions.get(to[1]) if address is None and to is not None else address
        if address is not None:
            names = {output[1], *_PATTERN.findall(text[output.end() : end])}
            yield from (PlacedSection(it.decode("latin-1"), address) for it in sorted(names))


def _closing(text: bytes, at: int) -> int:
    """Where the brace is that closes what was opened in front of a place."""
    depth = 1
    while at < len(text):
        depth += (text[at] == 0x7B) - (text[at] == 0x7D)
        if not depth:
            return at
        at += 1
    return at
