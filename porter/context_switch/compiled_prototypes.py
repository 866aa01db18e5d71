"""What a function takes and returns, as the project's compiler understands its declaration.

The transcriber reads declarations as text (`names`, `passing`), and hands the number of argument
words to the proof. Here the compiler is asked for the type of `&f` and says it in DWARF, so that a
wrong reading of the text is a contradiction and not a proof of too little.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from porter.context_switch.armcc import readable
from porter.context_switch.assemble import CompileError, compile_object
from porter.context_switch.riscv.debug_lines import with_debug_relocations
from porter.project.compile_options import CompileOptions

_PROBE = "fvm_probe"
_MOST = 8  # files that are compiled in search of a declaration
_WORD = 4  # bytes of an argument register
_NAMES = frozenset({
    "DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_restrict_type",
    "DW_TAG_atomic_type",
})  # fmt: skip
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
            if (found := self._asked(name, file, options)) is not None:
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
    probe = f"\n__typeof__(&{name}) {_PROBE};\n".encode()
    own = replace(options, include_dirs=(file.parent, *options.include_dirs))
    with tempfile.TemporaryDirectory(prefix="fvmkit-") as folder, suppress(CompileError):
        copy = Path(folder, f"{file.stem}.c")
        with readable(file) as text:
            copy.write_bytes(text.read_bytes() + probe)
        return _read(compile_object(copy, own, "-O0", "-gdwarf-4"), name)
    return None


def _read(raw: bytes, name: str) -> Prototype | None:
    """None where the declaration leaves the parameters open."""
    elf = ELFFile(BytesIO(raw))
    is_riscv = elf["e_machine"] == "EM_RISCV"
    elf = with_debug_relocations(raw) if is_riscv else elf
    dwarf = elf.get_dwarf_info(relocate_dwarf_sections=not is_riscv)
    for die in _named(dwarf, "DW_TAG_variable", _PROBE):
        pointed = _type(_type(die))
        if pointed is None or pointed.tag != "DW_TAG_subroutine_type":
            return None
        if "DW_AT_prototyped" in pointed.attributes:
            return _prototype(pointed)
        for definition in _named(dwarf, "DW_TAG_subprogram", name):
            if "DW_AT_declaration" not in definition.attributes:
                return _prototype(definition)
    return None


def _named(dwarf: Any, tag: str, name: str) -> Iterator[Any]:
    for unit in dwarf.iter_CUs():
        for die in unit.get_top_DIE().iter_children():
            told = die.attributes.get("DW_AT_name")
            if die.tag == tag and told is not None and told.value == name.encode():
                yield die


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
    """What a DIE is of, without typedefs and qualifiers; None for void."""
    while "DW_AT_type" in die.attributes:
        die = die.get_DIE_from_attribute("DW_AT_type")
        if die.tag not in _NAMES:
            return die
    return None


def _problem(die: Any) -> str:
    if die.tag not in ("DW_TAG_base_type", "DW_TAG_enumeration_type", "DW_TAG_pointer_type"):
        return "a structure or vector by value"
    if die.tag == "DW_TAG_base_type" and die.attributes["DW_AT_encoding"].value in _FLOATS:
        return "a floating-point value"
    size = die.attributes["DW_AT_byte_size"].value
    return f"{8 * size} bits" if size > _WORD else ""
