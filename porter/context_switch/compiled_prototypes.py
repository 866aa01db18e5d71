"""What a function takes and returns, as the project's compiler understands its declaration.

The transcriber reads declarations as text (`names`, `passing`), and hands the number of argument
words to the proof. Here the compiler is asked for the type of `&f` and says it in DWARF, so that a
wrong reading of the text is a contradiction and not a proof of too little.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from porter.context_switch.compiled_types import PROBE, named, plain, type_of, with_probe
from porter.project.compile_options import CompileOptions

_MOST = 8  # files that are compiled in search of a declaration
_WORD = 4  # bytes of an argument register
_FLOATS = frozenset({3, 4, 9, 15})  # DW_ATE_complex_float, float, imaginary_float, decimal_float


@dataclass(frozen=True)
class Prototype:
    """`words`: parameters, each of which fills one argument register, in AAPCS and in RISC-V's
    ilp32 alike; `returns`: such a word. `problem` is what doesn't fit into one, "" if all does."""

    words: int
    returns: bool
    problem: str = ""

    def __str__(self) -> str:
        """The rest of "as compiled it ..."."""
        result = "returns something" if self.returns else "returns nothing"
        return self.problem or f"takes {self.words} words and {result}"


class CompiledPrototypes:
    """Asks the compiler in the files of a project."""

    def __init__(self, files: Iterable[Path]) -> None:
        self._files = [file for file in files if file.suffix.lower() in (".c", ".h")]
        self._asked = cache(_asked)

    def of(self, name: str, source: Path, options: CompileOptions) -> Prototype | None:
        """That of a function which `source` defines or calls, by the nearest file that declares it
        and can be compiled; None if none does."""
        for file in self._candidates(name.encode(), source):
            by_file = options.by_file
            is_alike = by_file.get(file) == by_file.get(source)
            own = options if is_alike else options.of(file)
            if (found := self._asked(name, file, own)) is not None:
                return found
        return None

    def _candidates(self, name: bytes, source: Path) -> list[Path]:
        """The file itself, headers and C that mention the name, then C beside it: it may include
        what only together is a declaration."""

        mentions = {file: name in file.read_bytes() for file in self._files}

        def order(file: Path) -> tuple[bool, bool, bool, int]:
            distance = len(Path(os.path.relpath(file.parent, source.parent)).parts)
            return file != source, not mentions[file], file.suffix != ".h", distance

        wanted = (file for file in self._files if mentions[file] or file.suffix == ".c")
        return sorted(wanted, key=order)[:_MOST]


def _asked(name: str, file: Path, options: CompileOptions) -> Prototype | None:
    """None where the declaration leaves the parameters open."""
    dwarf = with_probe(name, file, options)
    for die in named(dwarf, "DW_TAG_variable", PROBE) if dwarf is not None else ():
        pointed = _type(_type(die))
        if pointed is None or pointed.tag != "DW_TAG_subroutine_type":
            return None
        if "DW_AT_prototyped" in pointed.attributes:
            return _prototype(pointed)
        for definition in named(dwarf, "DW_TAG_subprogram", name):
            if "DW_AT_declaration" not in definition.attributes:
                return _prototype(definition)
    return None


def _prototype(die: Any) -> Prototype:
    words = 0
    for child in die.iter_children():
        if child.tag == "DW_TAG_unspecified_parameters":
            return Prototype(words, False, "takes any number of arguments")
        if child.tag == "DW_TAG_formal_parameter":
            words += 1
            if what := _problem(_type(child)):
                return Prototype(words, False, f"takes {what}")
    result = _type(die)
    what = _problem(result) if result is not None else ""
    return Prototype(words, result is not None, f"returns {what}" if what else "")


def _type(die: Any) -> Any:
    return plain(type_of(die))[0]


def _problem(die: Any) -> str:
    if die.tag not in ("DW_TAG_base_type", "DW_TAG_enumeration_type", "DW_TAG_pointer_type"):
        return "a structure or vector by value"
    if die.tag == "DW_TAG_base_type" and die.attributes["DW_AT_encoding"].value in _FLOATS:
        return "a floating-point value"
    size = die.attributes["DW_AT_byte_size"].value
    return f"{8 * size} bits" if size > _WORD else ""
