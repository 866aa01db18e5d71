"""What all readers of project files need: XML, paths as an IDE writes them, options of a core."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path, PureWindowsPath
from typing import Any

from lxml import etree

from porter.project.compile_options import CompileOptions
from porter.project.compiler_command import (
    COMPILED,
    DEFAULT_COMPILER,
    CompilerCommand,
)
from porter.project.given_options import LANGUAGE
from scanner.arch.chips import chip
from scanner.report.errors import MissingError

_LARGEST = 8 << 20
_SINGLE = {"cortex-m4": "fpv4-sp-d16", "cortex-m7": "fpv5-sp-d16", "cortex-m33": "fpv5-sp-d16"}
_NAME = re.compile(r"[A-Za-z_]\w*")

Element = Any
"""An element of lxml, whose stubs know no types of what XPath finds."""


@dataclass(frozen=True)
class ProjectFile:
    """`files` are what it compiles, whether they are there or not, with all below `linked` folders
    of other places; `core` as GCC calls it.
    `optimize`: GCC's option for its level, "" if nobody knows; `language`: GCC's options for what
    changes the meaning of its code; `has_cmsis`: its compiler finds CMSIS' headers by itself;
    `path`: the project file, None until it is chosen."""

    files: tuple[Path, ...]
    include_dirs: tuple[Path, ...]
    defines: tuple[str, ...]
    core: str | None
    has_fpu: bool
    optimize: str = ""
    language: tuple[str, ...] = ()
    linked: tuple[Path, ...] = ()
    has_cmsis: bool = False
    path: Path | None = None

    def with_linked(self, here: Callable[[Path], Path]) -> ProjectFile:
        """With the files of linked folders, which are `here`. One that isn't there stays: it is no
        file, and so says that some are missing."""
        found = list(self.files)
        for folder in map(here, self.linked):
            below = sorted(folder.rglob("*")) if folder.is_dir() else [folder]
            found += [it for it in below if is_compiled(it) or it == folder]
        return replace(self, files=distinct(found), linked=())

    def commands(self) -> list[CompilerCommand]:
        """What GCC would be told; of IDEs with another compiler that is what it has to know."""
        defines = tuple(name for name in self.defines if _NAME.match(name))
        flags = (*core_flags(self.core, self.has_fpu), *self.language)
        options = CompileOptions(self.include_dirs, defines, flags, DEFAULT_COMPILER, self.optimize)
        return [CompilerCommand(self.files, options)] if self.files else []


def parsed(path: Path) -> Element | None:
    """The root element of a project file; None if it is none. Nothing outside of it is read."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
    try:
        if path.stat().st_size > _LARGEST:
            return None
        return etree.parse(str(path), parser).getroot()
    except (OSError, etree.XMLSyntaxError):
        return None


def core_of(part: str) -> str | None:
    """The core of a chip, by its name; None where its family isn't known."""
    try:
        return chip(part).core
    except MissingError:
        return None


def core_flags(core: str | None, has_fpu: bool) -> tuple[str, ...]:
    """Options of GCC for a core; () where it isn't known."""
    if core is None:
        return ()
    flags = (f"-mcpu={core}", "-mthumb")
    if has_fpu and core in _SINGLE:
        return (*flags, f"-mfpu={_SINGLE[core]}", "-mfloat-abi=hard")
    return (*flags, "-mfloat-abi=soft")


def is_compiled(file: Path) -> bool:
    """Whether a file of that name is compiled by itself."""
    return file.suffix.lower() in COMPILED


def language_options(text: str) -> list[str]:
    """What of options that are written by hand changes the meaning of code."""
    return [word for word in text.split() if word in LANGUAGE]


def place(text: str, folder: Path) -> Path:
    """A path that may come from Windows: with backslashes, in letters of either case."""
    text = text.strip().strip('"')
    found = Path("/") if text.startswith("/") else folder
    for part in PureWindowsPath(text.lstrip("/")).parts:
        if part == "..":
            found = found.parent
        elif part != ".":
            found = _child(found, part)
    return found


def _child(folder: Path, name: str) -> Path:
    exact = folder / name
    if exact.exists() or not folder.is_dir():
        return exact
    alike = (entry for entry in sorted(folder.iterdir()) if entry.name.lower() == name.lower())
    return next(alike, exact)


def distinct(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Each once, in their order."""
    return tuple(dict.fromkeys(paths))
