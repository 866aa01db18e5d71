"""Where a project's GNU linker scripts put sections: in RAM or in flash."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from porter.project.linker_symbols import script_number
from porter.source.comments import without_comments

_REGION = re.compile(rb"(?m)^\s*(\w+)\s*(?:\(([^)]*)\))?\s*:\s*(?:ORIGIN|org|o)\s*=\s*([^,]+?)\s*,")
_ALIAS = re.compile(rb'REGION_ALIAS\s*\(\s*"([^"]+)"\s*,\s*"?(\w+)"?\s*\)')
_OUTPUT_END = re.compile(rb"\}\s*>\s*(\w+)")
_INPUT = re.compile(rb"(?:^|[\s{;(])\*\s*\(")
_EXCLUDED = re.compile(rb"EXCLUDE_FILE\s*\([^)]*\)")
_PATTERN = re.compile(rb"[\w.$*?\[\]-]+")
_ORDERS = re.compile(rb"(?:SORT\w*|KEEP|COMMON)\Z")
_RAM_NAME = re.compile(  # not `program`, nor `frame`
    r"(?i:(?:^|[\W_])(?:[idsx]|ps|sd|bk|ext|ccm|[id]?tcm)?ram|tcm|ccm)|(?<=[a-z])Ram(?![a-z])"
)
_FLASH_NAME = re.compile(r"flash|rom(?![a-z])|xip", re.IGNORECASE)
_FAST_NAME = re.compile(r"fast|time_critical", re.IGNORECASE)
_DATA = re.compile(r"\.?(?:data|bss|noinit)(?:\.|$)", re.IGNORECASE)
_RAM = range(0x2000_0000, 0x4000_0000)
_LARGEST = 1 << 20
_UNFILLED = re.compile(rb"\(\s*NOLOAD\s*\)[^{}]*\{([^{}]*)\}")
_OF_A_FILE = re.compile(rb"[\w.:]\*?\s*\(\s*[^()]*(?:\.bss|\.data|\bCOMMON\b)")


@dataclass(frozen=True)
class Placed:
    """Which input sections, by a pattern, get into RAM, or don't."""

    pattern: str
    in_ram: bool
    script: Path


class LinkerSections:
    """What all scripts of a project say together."""

    def __init__(self, scripts: Iterable[Path]) -> None:
        small = (it for it in scripts if it.stat().st_size <= _LARGEST)
        self._scripts = [list(_placed(script)) for script in small]

    def why_in_ram(self, section: str) -> str:
        """Why code of a section counts as code in RAM; "" where it doesn't."""
        found = [
            it
            for placed in self._scripts
            if (it := next((p for p in placed if fnmatchcase(section, p.pattern)), None))
        ]
        in_ram = next((it for it in found if it.in_ram), None)
        if in_ram is not None:
            return f"{in_ram.script.name} puts {section} in RAM"
        if found:
            return ""
        # What no script has, ld puts behind the other code: only a name can say otherwise.
        is_ram = _DATA.match(section) or _RAM_NAME.search(section) or _FAST_NAME.search(section)
        return f"{section} is a section in RAM, by its name" if is_ram else ""


def keeps_contents(scripts: Iterable[Path]) -> bool:
    """Whether scripts put variables of some files where nobody fills memory at start-up."""
    texts = (without_comments(it.read_bytes()) for it in scripts if it.stat().st_size <= _LARGEST)
    bodies = (body[1] for text in texts for body in _UNFILLED.finditer(text))
    return any(_OF_A_FILE.search(body) for body in bodies)


def _placed(script: Path) -> Iterator[Placed]:
    text = without_comments(script.read_bytes())
    outputs: list[tuple[bytes, list[str]]] = []
    start = 0
    for end in _OUTPUT_END.finditer(text):
        body = _body(text, start, end.start())
        start = end.end()
        outputs.append((end[1], [it.decode("latin-1") for it in _inputs(body)]))
    with_data = {region for region, patterns in outputs if any(map(_DATA.match, patterns))}
    regions = dict(_regions(text, with_data))
    for region, patterns in outputs:
        if region in regions:
            yield from (Placed(it, regions[region], script) for it in patterns)


def _regions(text: bytes, with_data: Set[bytes]) -> Iterator[tuple[bytes, bool]]:
    """Names of memory, and whether it is RAM: what has data, or looks like it."""
    known: dict[bytes, bool] = {}
    aliases = _ALIAS.findall(text)
    for name, flags, origin in _REGION.findall(text):
        names = {name, *(alias for alias, of in aliases if of == name)}
        looks_so = _is_ram(name, flags, script_number(origin, _NOTHING))
        known.update(dict.fromkeys(names, looks_so or not names.isdisjoint(with_data)))
    yield from known.items()


_NOTHING: Mapping[bytes, int] = {}


def _is_ram(name: bytes, flags: bytes, origin: int | None) -> bool:
    if _FLASH_NAME.search(name.decode("latin-1")):
        return False
    if origin is not None and origin in _RAM:
        return True
    writable = b"w" in flags.lower().partition(b"!")[0]
    return writable or _RAM_NAME.search(name.decode("latin-1")) is not None


def _body(text: bytes, start: int, end: int) -> bytes:
    """What stands in the braces that end at `end`."""
    depth = 0
    for at in range(end - 1, start - 1, -1):
        depth += (text[at] == 0x7D) - (text[at] == 0x7B)
        if depth < 0:
            return text[at:end]
    return text[start:end]


def _inputs(body: bytes) -> Iterator[bytes]:
    """Patterns of sections that come from any file."""
    for opening in _INPUT.finditer(body):
        depth, at = 1, opening.end()
        while at < len(body) and depth:
            depth += (body[at] == 0x28) - (body[at] == 0x29)
            at += 1
        inner = _EXCLUDED.sub(b" ", body[opening.end() : at - 1])
        yield from (it for it in _PATTERN.findall(inner) if not _ORDERS.match(it))
