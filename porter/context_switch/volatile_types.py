"""Which memory the project's C declares volatile, by the compiler's own word (DWARF)."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from porter.context_switch.armcc import readable
from porter.context_switch.assemble import CompileError, compile_object
from porter.context_switch.riscv.debug_lines import with_debug_relocations
from porter.project.compile_options import CompileOptions

Pointers = tuple[int, ...]  # offsets in bytes at which they are read, one after the other

_PROBE = "fvm_probe"
_MOST = 4  # files that are compiled in search of a declaration
_VOLATILE = "DW_TAG_volatile_type"
_NAMES = frozenset({
    "DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_restrict_type", "DW_TAG_atomic_type", _VOLATILE,
})  # fmt: skip
_MEMBERS = frozenset({"DW_TAG_structure_type", "DW_TAG_union_type", "DW_TAG_class_type"})
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
        are read from `name` on is volatile; False where no C says what is there."""
        for die in self._types(name):
            found: Any = die
            for place in pointers:
                found, _ = _at(found, place)
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
        return [die for file in asked for die in _declared(name, file, self._options)]


def _declared(name: str, file: Path, options: CompileOptions) -> Iterator[Any]:
    """The type of `&name`, without what isn't complete."""
    probe = f"\n__typeof__(&{name}) {_PROBE};\n".encode()
    own = replace(options, include_dirs=(file.parent, *options.include_dirs))
    with tempfile.TemporaryDirectory(prefix="fvmkit-") as folder, suppress(CompileError):
        copy = Path(folder, f"{file.stem}.c")
        with readable(file) as text:
            copy.write_bytes(text.read_bytes() + probe)
        raw = compile_object(copy, own, "-O0", "-gdwarf-4")
        elf = ELFFile(BytesIO(raw))
        is_riscv = elf["e_machine"] == "EM_RISCV"
        elf = with_debug_relocations(raw) if is_riscv else elf
        dwarf = elf.get_dwarf_info(relocate_dwarf_sections=not is_riscv)
        for unit in dwarf.iter_CUs():
            for die in unit.get_top_DIE().iter_children():
                told = die.attributes.get("DW_AT_name")
                if told is not None and told.value == _PROBE.encode():
                    pointer, _ = _plain(_type(die))
                    yield _pointed(pointer)


def _type(die: Any) -> Any:
    return die.get_DIE_from_attribute("DW_AT_type") if "DW_AT_type" in die.attributes else None


def _pointed(die: Any) -> Any:
    return _type(die) if die is not None and die.tag == _POINTER else None


def _plain(die: Any) -> tuple[Any, bool]:
    """A type without typedefs and qualifiers, and whether volatile was among them."""
    volatile = False
    while die is not None and die.tag in _NAMES:
        volatile = volatile or die.tag == _VOLATILE
        die = _type(die)
    return die, volatile


def _at(die: Any, offset: int) -> tuple[Any, bool]:
    """What is at an offset into an object of a type, and whether it is volatile. Behind its end
    too: there may be more of the same."""
    die, volatile = _plain(die)
    if die is None or "DW_AT_declaration" in die.attributes:
        return None, False
    if die.tag == "DW_TAG_array_type":
        inner, more = _at(_type(die), offset % max(_size(_type(die)), 1))
        return inner, volatile or more
    if die.tag in _MEMBERS:
        offset %= max(_size(die), 1)
        for member in reversed([it for it in die.iter_children() if it.tag == "DW_TAG_member"]):
            start = member.attributes.get("DW_AT_data_member_location")
            if start is None or start.value <= offset:
                inner, more = _at(_type(member), offset - (start.value if start else 0))
                return inner, volatile or more
    return die, volatile


def _size(die: Any) -> int:
    """Bytes of a type."""
    die, _ = _plain(die)
    if die is None:
        return 0
    if die.tag == "DW_TAG_array_type":
        count = 1
        for part in die.iter_children():
            bound = part.attributes.get("DW_AT_upper_bound")
            count *= bound.value + 1 if bound is not None else 1
        return count * _size(_type(die))
    size = die.attributes.get("DW_AT_byte_size")
    return size.value if size is not None else 0
