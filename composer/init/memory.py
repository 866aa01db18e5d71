"""How much memory a program needs: its built ELF, else what its linker script gives it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from composer.init.facts import Decision, MemoryUse
from composer.init.linker_script import choose, find_scripts, read_script
from porter.execution.survey import Survey
from porter.project.build import Build

_ELF_SUFFIXES = (".elf", ".axf", ".out")
_SKIPPED = frozenset({".git", "node_modules", ".venv"})
_RESERVE = re.compile(r"heap|stack", re.IGNORECASE)
_ALLOCATORS = frozenset({"malloc", "calloc", "realloc", "_malloc_r", "_sbrk", "strdup", "asprintf"})
_LARGEST = 64 << 20  # bytes of an ELF with its debug information


@dataclass(frozen=True)
class ElfSize:
    """Bytes in flash and in RAM, without sections that only keep room for stack and heap;
    whether malloc() was linked in. `name` is the path below the project."""

    path: Path
    name: str
    flash: int
    ram: int
    allocates: bool


def memory_of(survey: Survey, elf: ElfSize | None) -> tuple[MemoryUse, list[Decision]]:
    """What can be told, and what a person must look at."""
    root = survey.root
    decisions: list[Decision] = []
    named = [script for it in survey.build.linked for script in it.scripts if script.is_file()]
    candidates = list(dict.fromkeys(named)) or choose(find_scripts(root), root)
    script = read_script(candidates[0], root) if candidates else None
    if len(candidates) > 1:
        names = tuple(path.relative_to(root).as_posix() for path in candidates[:4])
        decisions.append(
            Decision(f"which linker script is it? {names[0]} was taken", names)
        )  # fmt: skip
    allocates = elf.allocates if elf else bool(_ALLOCATORS & survey.reach.called)
    return (
        MemoryUse(
            script.regions if script else (),
            elf.name if elf else None,
            elf.flash if elf else None,
            elf.ram if elf else None,
            script.stack if script else None,
            script.heap if script else None,
            script.heap_place if script else "",
            allocates,
        ),
        decisions,
    )


def built_elf(root: Path, build: Build) -> ElfSize | None:
    """The program that the build links, if it is there; else the last built one below a folder.

    None if there is none for Arm, or if the build links another one and several are there.
    """
    programs = [it.program for it in build.linked if it.program.is_file()]
    sizes = [measure(path, os.path.relpath(path, root)) for path in programs]
    known = [size for size in sizes if size is not None]
    found = known or list(_newest(root))
    return found[0] if found and (known or not build.linked or len(found) == 1) else None


def _newest(root: Path) -> Iterator[ElfSize]:
    """Built programs below a folder, the last one first."""
    found: list[tuple[float, Path]] = []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = sorted(name for name in subfolders if name not in _SKIPPED)
        for name in names:
            path = Path(folder, name)
            if path.suffix.lower() in _ELF_SUFFIXES and path.is_file():
                found.append((path.stat().st_mtime, path))
    for _, path in sorted(found, reverse=True):
        size = measure(path, path.relative_to(root).as_posix())
        if size is not None:
            yield size


def measure(path: Path, name: str) -> ElfSize | None:
    """The sizes of an executable for Arm; None for any other file."""
    flash = ram = 0
    try:
        if path.stat().st_size > _LARGEST:
            return None
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            if elf["e_machine"] != "EM_ARM" or elf["e_type"] != "ET_EXEC":
                return None
            for segment in elf.iter_segments("PT_LOAD"):
                flash += segment["p_filesz"]
            for section in elf.iter_sections():
                flags = section["sh_flags"]
                in_ram = flags & SH_FLAGS.SHF_WRITE and flags & SH_FLAGS.SHF_ALLOC
                if in_ram and not _RESERVE.search(section.name):
                    ram += section["sh_size"]
            symbols: Any = elf.get_section_by_name(".symtab")
            allocates = bool(symbols and symbols.get_symbol_by_name("_malloc_r"))
    except Exception:  # noqa: BLE001 - pyelftools lets whatever its parser met through
        return None
    return ElfSize(path, name, flash, ram, allocates)
