"""What assembler files take in: conditions that keep C from a header, and lines that name files."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from porter.source.asm_text import dialect_of, instructions
from porter.source.conditions import Arm, ConditionMap
from porter.source.source_file import SourceFile

_HIDES = re.compile(r"!\s*\(?\s*(?:defined\s*\(?\s*)?(\w*(?:ASSEMBL|_I?ASM)\w*)", re.IGNORECASE)
_INCLUDE = re.compile(  # armasm: GET lib\\x.s
    rb'(?mi)^[ \t]*(?:\#[ \t]*include[ \t]*[<"]|\.include[ \t]+"|(?:get|include)[ \t]+)'
    rb'([^>"\r\n;]+)'
)

_TAKES_IN = {"gnu": frozenset({".include"}), "armasm": frozenset({"get", "include"})}
_OPENS = re.compile(r"\.?if\w*|\.?macro")
_CLOSES = frozenset({"endif", "endm", "mend"})


@dataclass(frozen=True)
class TakenIn:
    """A line on which the assembler itself takes in another file. `is_certain`: neither a condition
    of the assembler's nor a macro is around it."""

    word: str
    name: str
    offset: int
    is_certain: bool


def taken_in(data: bytes) -> Iterator[TakenIn]:
    """The files that a file of assembler text names, but by lines of the preprocessor."""
    dialect = dialect_of(data)
    opened = 0
    for it in instructions(data, dialect):
        word = (it.label or it.mnemonic).lower()  # `IF :DEF:X` looks like a label
        if word.lstrip(".") in _CLOSES:
            opened = max(opened - 1, 0)
        elif _OPENS.fullmatch(word):
            opened += 1
        elif it.mnemonic in _TAKES_IN[dialect] and len(it.operands) == 1:
            written = data[it.start :].split(maxsplit=1)[0].decode("latin-1")
            yield TakenIn(written, it.operands[0].strip('"'), it.start, not opened)


def arms_for_c(conditions: ConditionMap, defined: Container[bytes]) -> Iterator[Arm]:
    """Arms that a condition hides from assembler, such as `#ifndef __ASSEMBLER__`.

    What C text defines says nothing of the language: `#ifndef __ASM`, `HAVE_GCC_EXTENDED_ASM`.
    """
    for arm in conditions:
        if any(_hides(condition, defined) for condition in arm.conditions):
            yield arm


def _hides(condition: str, defined: Container[bytes]) -> bool:
    found = _HIDES.search(condition)
    return found is not None and "||" not in condition and found[1].encode() not in defined


def included_names(first: Iterable[SourceFile], others: Sequence[SourceFile]) -> frozenset[bytes]:
    """The file names, without folders, that #include lines of files have and what assembler text
    has for them, and those of the others that they name."""
    found: set[bytes] = set()
    new = _names(first)
    while new:
        found |= new
        new = _names(it for it in others if it.path.name.encode() in new) - found
    return frozenset(found)


def _names(files: Iterable[SourceFile]) -> set[bytes]:
    return {
        found.group(1).strip().replace(b"\\", b"/").rpartition(b"/")[2]
        for it in files
        for found in _INCLUDE.finditer(it.data)
    }
