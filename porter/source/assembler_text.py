"""What of a header assembler files see: the conditions that keep C from them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence

from porter.source.conditions import Arm, ConditionMap
from porter.source.source_file import SourceFile

_HIDES = re.compile(r"!\s*\(?\s*(?:defined\s*\(?\s*)?(\w*(?:ASSEMBL|_I?ASM)\w*)", re.IGNORECASE)
_INCLUDE = re.compile(  # armasm: GET lib\\x.s
    rb'(?mi)^[ \t]*(?:\#[ \t]*include[ \t]*[<"]|\.include[ \t]+"|(?:get|include)[ \t]+)'
    rb'([^>"\r\n;]+)'
)


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
