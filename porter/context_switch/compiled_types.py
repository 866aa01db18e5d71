"""Types of the project's C as its compiler understands them: it says them in DWARF."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from porter.context_switch.armcc import readable
from porter.context_switch.assemble import CompileError, compile_object, machine_of
from porter.project.compile_options import CompileOptions

PROBE = "fvm_probe"
VOLATILE = "DW_TAG_volatile_type"

_NAMES = frozenset({
    "DW_TAG_typedef", "DW_TAG_const_type", "DW_TAG_restrict_type", "DW_TAG_atomic_type", VOLATILE,
})  # fmt: skip


def with_probe(name: str, file: Path, options: CompileOptions) -> Any:
    """The DWARF of a file with a variable PROBE of the type of `&name` at its end; None if it
    can't be compiled."""
    probe = f"\n__typeof__(&{name}) {PROBE};\n".encode()
    own = replace(options, include_dirs=(file.parent, *options.include_dirs))
    with tempfile.TemporaryDirectory(prefix="fvmkit-") as folder, suppress(CompileError):
        copy = Path(folder, f"{file.stem}.c")
        with readable(file) as text:
            copy.write_bytes(text.read_bytes() + probe)
        return machine_of(own).dwarf(compile_object(copy, own, "-O0", "-gdwarf-4"))
    return None


def named(dwarf: Any, tag: str, name: str) -> Iterator[Any]:
    """What of a kind has a name at file level."""
    for unit in dwarf.iter_CUs():
        for die in unit.get_top_DIE().iter_children():
            told = die.attributes.get("DW_AT_name")
            if die.tag == tag and told is not None and told.value == name.encode():
                yield die


def type_of(die: Any) -> Any:
    """The type that a DIE names; None for void."""
    return die.get_DIE_from_attribute("DW_AT_type") if "DW_AT_type" in die.attributes else None


def plain(die: Any) -> tuple[Any, bool]:
    """A type without typedefs and qualifiers, and whether volatile was among them."""
    volatile = False
    while die is not None and die.tag in _NAMES:
        volatile = volatile or die.tag == VOLATILE
        die = type_of(die)
    return die, volatile
