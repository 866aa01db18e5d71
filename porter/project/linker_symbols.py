"""What a project's linker scripts give names: `SCB_ICSR = 0xE000ED04;`, `cur = kernel + 4;`.

Numbers are constants, in terms of numbers and names of the same script. What depends on where the
program ends up is memory of its own, which has another name already if a variable of the program is
what it is calculated from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from porter.source.c_types import TypeTable
from porter.source.comments import without_comments
from porter.source.evaluate import Evaluator
from porter.source.macros import MacroTable
from porter.source.values import Number

SCRIPT_SUFFIXES = frozenset({".ld", ".lds", ".ldscript", ".lcf", ".icf", ".x"})

_ASSIGNMENT = re.compile(
    rb"(?:^|[\s;{}(,])([A-Za-z_.$][\w.$]*)\s*=(?!=)\s*([^;={}]+?)\s*;", re.MULTILINE
)
_PROVIDES = re.compile(rb"\bPROVIDE(?:_HIDDEN)?\s*\(\s*\Z")
_KEEP = re.compile(rb"\bKEEP\s*\(((?:[^()]|\((?:[^()]|\([^()]*\))*\))*)\)")
_SECTION = re.compile(rb"(?<![\w*?.\[\]/-])\.[\w.$*?\[\]-]+")
_SCALED = re.compile(rb"\b(0[xX][0-9A-Fa-f]+|\d+)([KkMm])\b")
_NAME = re.compile(rb"(?<![\w.$])[A-Za-z_.$][\w.$]*")
_OF_LAYOUT = re.compile(rb"\b(?:ORIGIN|LENGTH|ADDR|LOADADDR|SIZEOF|ALIGNOF|DEFINED)\s*\([^()]*\)")
_WHOLE = re.compile(rb"^\s*(?:MEMORY|SECTIONS)\s*\{", re.MULTILINE)
_SCALES = {b"k": b"1024", b"m": b"1048576"}
_WORD = 0xFFFF_FFFF
_LARGEST = 1 << 20  # bytes: what has a suffix of these and is larger is something else


@dataclass(frozen=True)
class LinkerSymbol:
    """A name for a 32-bit number, and where it gets it."""

    name: str
    value: int
    script: Path
    line: int

    def __str__(self) -> str:
        return f"{self.script.name}:{self.line}"


@dataclass(frozen=True)
class LinkerAlias:
    """A name that a script calculates from another one, which is no number there."""

    name: str
    of: str


def linker_aliases(scripts: Iterable[Path]) -> list[LinkerAlias]:
    """Those of all scripts, one for each name in what is calculated."""
    return [
        LinkerAlias(name.decode("latin-1"), of.decode("latin-1"))
        for script in _small(scripts)
        for name, value, _ in _assignments(script)
        for of in set(_NAME.findall(_OF_LAYOUT.sub(b"", value)))
        if not of.startswith(b".")
    ]


def placed_names(scripts: Iterable[Path]) -> dict[str, Path]:
    """Names that scripts give a place of their own, with the script: `hook = . + 1;`. Whatever the
    program defines by such a name is something else there; PROVIDE gives way to it."""
    return {
        match[1].decode("latin-1"): script
        for script in _small(scripts)
        for text in [without_comments(script.read_bytes())]
        for match in _ASSIGNMENT.finditer(text)
        if not _PROVIDES.search(text, 0, match.start(1))
        and all(of.startswith(b".") for of in _NAME.findall(match[2]))
    }


def linker_symbols(scripts: Iterable[Path]) -> list[LinkerSymbol]:
    """Those of all scripts; a name that several of them have counts several times."""
    return [symbol for script in _small(scripts) for symbol in _symbols(script)]


class NearestScripts:
    """Which scripts a file may be linked by: in a tree of several programs not those of others."""

    def __init__(self, scripts: Iterable[Path]) -> None:
        small = list(_small(scripts))
        whole = {it for it in small if _WHOLE.search(without_comments(it.read_bytes()))}
        self._parts = frozenset(small) - whole  # somebody includes them
        self._whole = whole
        self.of = cache(self._of)

    def _of(self, folder: Path) -> frozenset[Path]:
        """Those for files of a folder: of what is there, or else around it, and all parts."""
        for around in (folder, *folder.parents):
            if found := {it for it in self._whole if it.is_relative_to(around)}:
                return self._parts | found
        return self._parts


def linker_words(scripts: Iterable[Path]) -> frozenset[str]:
    """Every name in the scripts: a function of theirs is used, by ENTRY, EXTERN or PROVIDE."""
    texts = (without_comments(script.read_bytes()) for script in _small(scripts))
    return frozenset(it.decode("latin-1") for text in texts for it in _NAME.findall(text))


def kept_sections(scripts: Iterable[Path]) -> frozenset[str]:
    """Patterns of the sections that the scripts keep, whoever refers to them."""
    return frozenset(
        pattern.decode("latin-1")
        for script in _small(scripts)
        for kept in _KEEP.findall(without_comments(script.read_bytes()))
        for pattern in _SECTION.findall(kept)
    )


def _small(scripts: Iterable[Path]) -> Iterator[Path]:
    return (script for script in scripts if script.stat().st_size <= _LARGEST)


def _assignments(script: Path) -> Iterator[tuple[bytes, bytes, int]]:
    """Names, what they are set to, and on which line."""
    text = without_comments(script.read_bytes())
    for match in _ASSIGNMENT.finditer(text):
        name, value = match.groups()
        value = value.rstrip()
        if value.count(b")") > value.count(b"("):  # of PROVIDE
            value = value.rstrip(b") \t\r\n") + b")" * value.count(b"(")
        yield name, value, text.count(b"\n", 0, match.start(1)) + 1


def _symbols(script: Path) -> Iterator[LinkerSymbol]:
    known: dict[bytes, int] = {}
    for name, value, line in _assignments(script):
        number = script_number(value, known)
        if number is None:
            known.pop(name, None)
            continue
        known[name] = number
        yield LinkerSymbol(name.decode("latin-1"), number, script, line)


def script_number(text: bytes, known: Mapping[bytes, int]) -> int | None:
    """The 32-bit value of a script's expression, with some symbols; None if it isn't constant."""
    text = _SCALED.sub(lambda it: b"(%s*%s)" % (it[1], _SCALES[it[2].lower()]), text)
    text = _NAME.sub(lambda it: b"%d" % known[it[0]] if it[0] in known else it[0], text)
    number = Evaluator(MacroTable(), TypeTable()).text(text)
    return number.value & _WORD if isinstance(number, Number) else None
