"""Which memory the project's C declares volatile, by the compiler's own word (DWARF)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from porter.context_switch.compiled_types import PROBE, named, plain, type_of, with_probe
from porter.project.compile_options import CompileOptions

Pointers = tuple[int, ...]  # offsets in bytes at which they are read, one after the other

_MOST = 4  # files that are compiled in search of a declaration
_MEMBERS = frozenset({"DW_TAG_structure_type", "DW_TAG_union_type", "DW_TAG_class_type"})
_FUNCTION = "DW_TAG_subroutine_type"
_POINTER = "DW_TAG_pointer_type"


class VolatileTypes:
    """Asks the compiler in the files of a project."""

    def __init__(self, files: Iterable[Path], options: CompileOptions) -> None:
        self._files = sorted(
            (file for file in files if file.suffix.lower() in (".c", ".h")),
            key=lambda file: file.suffix == ".h",
        )
        self._options = options
        self._types = cache(self._asked)

    def holds(self, name: str, pointers: Pointers, offset: int) -> bool:
        """Whether what is `offset` bytes behind the last of the pointers that one after the other
        are read from `name` on is volatile; False where no C says what is there. From a function's
        name one reads what it returns."""
        for die in self._types(name):
            found: Any = die
            for place in pointers:
                found, _ = _at(found, place)
                if found is not None and found.tag == _FUNCTION:
                    found, _ = plain(type_of(found))
                found = _pointed(found)
            thing, volatile = _at(found, offset)
            if thing is not None:
                # A pointer variable that is volatile itself keeps its name in the port.
                return volatile and not (not pointers and thing.tag == _POINTER)
        return False

    def _asked(self, name: str) -> list[Any]:
        word = re.compile(rb"\b%s\b" % re.escape(name.encode()))
        mentioning = (file for file in self._files if word.search(file.read_bytes()))
        asked = [file for _, file in zip(range(_MOST), mentioning, strict=False)]
        return [die for file in asked for die in _declared(name, file, self._options.of(file))]


def _declared(name: str, file: Path, options: CompileOptions) -> Iterator[Any]:
    """The type of a variable, as one file declares it."""
    dwarf = with_probe(name, file, options)
    for die in named(dwarf, "DW_TAG_variable", PROBE) if dwarf is not None else ():
        pointer, _ = plain(type_of(die))
        yield _pointed(pointer)


def _pointed(die: Any) -> Any:
    return type_of(die) if die is not None and die.tag == _POINTER else None


def _at(die: Any, offset: int) -> tuple[Any, bool]:
    """What is at an offset into an object of a type, and whether it is volatile. Behind its end
    too: there may be more of the same."""
    die, volatile = plain(die)
    if die is None or "DW_AT_declaration" in die.attributes:
        return None, False
    if die.tag == "DW_TAG_array_type":
        inner, more = _at(type_of(die), offset % max(_size(type_of(die)), 1))
        return inner, volatile or more
    if die.tag in _MEMBERS:
        offset %= max(_size(die), 1)
        for member in reversed([it for it in die.iter_children() if it.tag == "DW_TAG_member"]):
            start = member.attributes.get("DW_AT_data_member_location")
            if start is None or start.value <= offset:
                inner, more = _at(type_of(member), offset - (start.value if start else 0))
                return inner, volatile or more
    return die, volatile


def _size(die: Any) -> int:
    """Bytes of a type."""
    die, _ = plain(die)
    if die is None:
        return 0
    if die.tag == "DW_TAG_array_type":
        count = 1
        for part in die.iter_children():
            bound = part.attributes.get("DW_AT_upper_bound")
            count *= bound.value + 1 if bound is not None else 1
        return count * _size(type_of(die))
    size = die.attributes.get("DW_AT_byte_size")
    return size.value if size is not None else 0
