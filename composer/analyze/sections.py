"""Memory sections: which a linker script places besides the usual, and what code puts into them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from composer.analyze.model import Count
from porter.port import Judged
from porter.program.c_text import CText
from porter.source.comments import without_comments

_OUTPUT = re.compile(rb"(?m)^\s*(\.[A-Za-z_][\w.]*)\s*(?:\([A-Z]+\)|[^:;{}=()\n]*)?:")
_SECTIONS = re.compile(rb"\bSECTIONS\s*\{")
_USUAL = frozenset(
    {".text", ".data", ".bss", ".rodata", ".isr_vector", ".vectors", ".stack", ".heap", ".ARM",
     ".ARM.exidx", ".ARM.extab", ".ARM.attributes", ".preinit_array", ".init_array", ".fini_array",
     ".init", ".fini", ".comment", ".eh_frame", ".noinit", "._user_heap_stack", ".got", ".dynamic",
     ".startup", ".intvecs", ".debug"}
)  # fmt: skip
_SECTION = b"section"


def sections_of(judged: Judged, scripts: Sequence[Path]) -> tuple[Count, ...]:
    """Sections by name: how many definitions code places there, and where the section is made."""
    found: dict[str, list[str]] = {}
    for script in scripts:
        for name, line in _placed(script):
            if name not in _USUAL and not name.startswith((".debug", ".stab")):
                found.setdefault(name, []).append(f"{script.name}:{line}")
    counts = dict.fromkeys(found, 0)
    for unit in judged.docket.units.values():
        for name, offset in _named(unit.text):
            counts[name] = counts.get(name, 0) + 1
            places = found.setdefault(name, [])
            places.append(f"{unit.file.name}:{unit.file.line(offset)}")
    return tuple(
        Count(name, counts.get(name, 0), tuple(places[:3])) for name, places in found.items()
    )


def _placed(script: Path) -> Iterator[tuple[str, int]]:
    """Output sections of a script of GNU ld, with their lines."""
    try:
        text = without_comments(script.read_bytes())
    except OSError:
        return
    begin = _SECTIONS.search(text)
    for match in _OUTPUT.finditer(text, begin.end()) if begin is not None else ():
        yield match.group(1).decode("latin-1"), text.count(b"\n", 0, match.start(1)) + 1


def _named(text: CText) -> Iterator[tuple[str, int]]:
    """Sections that attributes name in a file, as they stand or by a macro."""
    if text.file.is_header:
        return
    tokens = text.balanced
    for at, token in enumerate(tokens):
        if token.text == _SECTION and at + 2 < len(tokens) and tokens[at + 2].text[:1] == b'"':
            yield tokens[at + 2].text.strip(b'"').decode("latin-1"), token.start
        elif token.kind == "identifier" and (made := text.expansion(token)) is not None:
            texts = list(made.texts)
            if _SECTION in texts and not made.takes_arguments:
                name = texts[min(texts.index(_SECTION) + 2, len(texts) - 1)]
                yield name.strip(b'"').decode("latin-1"), token.start
