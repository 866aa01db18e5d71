"""Numbers that a project's linker scripts give names: `SCB_ICSR = 0xE000ED04;`.

Only constants count, in terms of numbers and names of the same script: what depends on where the
program ends up is memory of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
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
_SCALED = re.compile(rb"\b(0[xX][0-9A-Fa-f]+|\d+)([KkMm])\b")
_NAME = re.compile(rb"(?<![\w.$])[A-Za-z_.$][\w.$]*")
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


def linker_symbols(scripts: Iterable[Path]) -> list[LinkerSymbol]:
    """Those of all scripts; a name that several of them have counts several times."""
    small = (script for script in scripts if script.stat().st_size <= _LARGEST)
    return [symbol for script in small for symbol in _symbols(script)]


def _symbols(script: Path) -> Iterator[LinkerSymbol]:
    text = without_comments(script.read_bytes())
    known: dict[bytes, int] = {}
    for match in _ASSIGNMENT.finditer(text):
        name, value = match.groups()
        value = value.rstrip()
        if value.count(b")") > value.count(b"("):  # of PROVIDE
            value = value.rstrip(b") \t\r\n") + b")" * value.count(b"(")
        number = script_number(value, known)
        if number is None:
            known.pop(name, None)
            continue
        known[name] = number
        line = text.count(b"\n", 0, match.start(1)) + 1
        yield LinkerSymbol(name.decode("latin-1"), number, script, line)


def script_number(text: bytes, known: Mapping[bytes, int]) -> int | None:
    """The 32-bit value of a script's expression, with some symbols; None if it isn't constant."""
    text = _SCALED.sub(lambda it: b"(%s*%s)" % (it[1], _SCALES[it[2].lower()]), text)
    text = _NAME.sub(lambda it: b"%d" % known[it[0]] if it[0] in known else it[0], text)
    number = Evaluator(MacroTable(), TypeTable()).text(text)
    return number.value & _WORD if isinstance(number, Number) else None
